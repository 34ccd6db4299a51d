import type { MediaPart, ServerToolKind } from '../../canonical/message.ts'
import type { FinishReason } from '../../canonical/response.ts'
import { twoWay } from '../../kit/fields/two-way.ts'

/**
 * `finishReason` as it is read. There is none for tool calls: a response that calls ends with
 * `STOP`.
 */
export const finishReason = twoWay<string, FinishReason>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['RECITATION', 'recitation'],
  ['IMAGE_RECITATION', 'recitation'],
  ['MALFORMED_FUNCTION_CALL', 'malformed_tool_call'],
  ['UNEXPECTED_TOOL_CALL', 'malformed_tool_call'],
  ['TOO_MANY_TOOL_CALLS', 'malformed_tool_call'],
  ['MISSING_THOUGHT_SIGNATURE', 'malformed_tool_call'],
  ['CONTINUATION', 'pause'],
  ['OTHER', 'other'],
])

/** Finish reasons of a candidate that failed: without content there is no response. */
export const failedFinishReasons: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
  'OTHER',
  'LANGUAGE',
  'NO_IMAGE',
  'IMAGE_OTHER',
])

/**
 * Finish reasons by the number that some hosts write. All other numbers mean different things on
 * different hosts.
 */
const numbered = [
  'FINISH_REASON_UNSPECIFIED',
  'STOP',
  'MAX_TOKENS',
  'SAFETY',
  'RECITATION',
  'OTHER',
]

/** A `finishReason` as a string. Undefined: there is none yet. */
export function finishWord(raw: unknown): string | undefined {
  if (typeof raw === 'number') return numbered[raw] ?? String(raw)
  return typeof raw === 'string' && raw !== '' ? raw : undefined
}

/**
 * `finishReason` as it is written. `exact: false`: the nearest one, because there is none here or
 * because it would mean more than is known. `stop` and `tool_calls` are exact or not by whether
 * there are calls, `other` by whether it has a word of its own.
 */
export const finishWords: Record<FinishReason, { word: string; exact: boolean }> = {
  stop: { word: 'STOP', exact: true },
  stop_sequence: { word: 'STOP', exact: false },
  length: { word: 'MAX_TOKENS', exact: true },
  context_window: { word: 'MAX_TOKENS', exact: false },
  tool_calls: { word: 'STOP', exact: true },
  content_filter: { word: 'SAFETY', exact: true },
  refusal: { word: 'SAFETY', exact: false },
  recitation: { word: 'RECITATION', exact: true },
  pause: { word: 'OTHER', exact: false },
  compaction: { word: 'OTHER', exact: false },
  malformed_tool_call: { word: 'MALFORMED_FUNCTION_CALL', exact: true },
  cancelled: { word: 'OTHER', exact: false },
  error: { word: 'OTHER', exact: true },
  other: { word: 'OTHER', exact: true },
}

/** `serviceTier`, in requests and in `usageMetadata`. */
export const tierWords = twoWay<string, string>([
  ['standard', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['unspecified', 'auto'],
])

/** `responseModalities`, read in any case. */
export const modality = twoWay<string, string>([
  ['TEXT', 'text'],
  ['IMAGE', 'image'],
  ['AUDIO', 'audio'],
  ['VIDEO', 'video'],
  ['MODALITY_UNSPECIFIED', 'text'],
])

export const modalityOf = (word: string): string => modality.toOurs(word.toUpperCase()) ?? word

/** `thinkingLevel`, by the effort it means. */
export const thinkingLevel = twoWay<string, string>([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
  ['XHIGH', 'xhigh'],
])

/** `mediaResolution.level` of a part. */
export const resolution = twoWay<string, NonNullable<MediaPart['detail']>>([
  ['MEDIA_RESOLUTION_LOW', 'low'],
  ['MEDIA_RESOLUTION_HIGH', 'high'],
  ['MEDIA_RESOLUTION_ULTRA_HIGH', 'ultra_high'],
])

/** Parts of server tools by key. `toolCall` and `toolResponse` name their tool in `toolType`. */
export const serverParts: readonly (readonly [
  key: string,
  { phase: 'call' | 'result'; tool: ServerToolKind | undefined },
])[] = [
  ['executableCode', { phase: 'call', tool: 'code_execution' }],
  ['codeExecutionResult', { phase: 'result', tool: 'code_execution' }],
  ['toolCall', { phase: 'call', tool: undefined }],
  ['toolResponse', { phase: 'result', tool: undefined }],
]

const toolTypes = new Map<string, ServerToolKind>([
  ['GOOGLE_SEARCH_WEB', 'web_search'],
  ['GOOGLE_SEARCH_IMAGE', 'web_search'],
  ['URL_CONTEXT', 'url_context'],
  ['GOOGLE_MAPS', 'maps'],
  ['FILE_SEARCH', 'file_search'],
])

/** The tool for the `toolType` of a part. */
export function serverToolOfType(word: unknown): ServerToolKind {
  return (typeof word === 'string' && toolTypes.get(word)) || 'other'
}

/** Keys of `tools` entries other than functions, and the tool that each one is. */
export const serverTools = new Map<string, ServerToolKind>([
  ['googleSearch', 'web_search'],
  ['googleSearchRetrieval', 'web_search'],
  ['enterpriseWebSearch', 'web_search'],
  ['exaAiSearch', 'web_search'],
  ['parallelAiSearch', 'web_search'],
  ['urlContext', 'url_context'],
  ['codeExecution', 'code_execution'],
  ['fileSearch', 'file_search'],
  ['retrieval', 'file_search'],
  ['googleMaps', 'maps'],
  ['computerUse', 'computer'],
  ['mcpServers', 'mcp'],
])

/** The key of the nearest tool here for another provider's tool, with `serverTools: 'map'`. */
export const nearestServerTool: Partial<Record<ServerToolKind, string>> = {
  web_search: 'googleSearch',
  web_fetch: 'urlContext',
  url_context: 'urlContext',
  code_execution: 'codeExecution',
  maps: 'googleMaps',
}

/** The kind of media of a MIME type. */
export function kindOfMime(mime: string | undefined): MediaPart['kind'] {
  const family = mime?.slice(0, mime.indexOf('/')).toLowerCase()
  if (family === 'image' || family === 'audio' || family === 'video') return family
  return mime === undefined ? 'file' : 'document'
}
