import type { CacheTtl, ServerToolKind } from '../../canonical/message.ts'
import type { FinishReason } from '../../canonical/response.ts'
import { twoWay } from '../../kit/fields/two-way.ts'

/** `stopReason` as it is read. */
export const stopReasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context_window'],
  ['tool_use', 'tool_calls'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['malformed_tool_use', 'malformed_tool_call'],
  ['malformed_model_output', 'other'],
  // Words of models that have none here.
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
  ['compaction', 'compaction'],
  // Words of compatible servers.
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool-calls', 'tool_calls'],
  ['content-filter', 'content_filter'],
])

/** `stopReason` as it is written. `exact: false`: the nearest one. */
export const finishWords: Record<FinishReason, { word: string; exact: boolean }> = {
  stop: { word: 'end_turn', exact: true },
  stop_sequence: { word: 'stop_sequence', exact: true },
  length: { word: 'max_tokens', exact: true },
  context_window: { word: 'model_context_window_exceeded', exact: true },
  tool_calls: { word: 'tool_use', exact: true },
  content_filter: { word: 'content_filtered', exact: true },
  refusal: { word: 'content_filtered', exact: false },
  recitation: { word: 'content_filtered', exact: false },
  malformed_tool_call: { word: 'malformed_tool_use', exact: true },
  pause: { word: 'end_turn', exact: false },
  compaction: { word: 'end_turn', exact: false },
  cancelled: { word: 'end_turn', exact: false },
  error: { word: 'end_turn', exact: false },
  other: { word: 'end_turn', exact: false },
}

/** `serviceTier.type`, of requests and responses. */
export const tierWords = twoWay<string, string>([
  ['default', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
])

/** `ttl` of a cache point. */
export const ttlWords: Record<CacheTtl, '5m' | '1h'> = {
  '5m': '5m',
  '30m': '1h',
  '1h': '1h',
  '12h': '1h',
}

export function isTtl(word: unknown): word is '5m' | '1h' {
  return word === '5m' || word === '1h'
}

/** `format` of each kind of media, and its media type. The first format of a type is written. */
export const formats: Record<
  'image' | 'document' | 'video' | 'audio',
  ReadonlyMap<string, string>
> = {
  image: new Map([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['gif', 'image/gif'],
    ['webp', 'image/webp'],
  ]),
  document: new Map([
    ['pdf', 'application/pdf'],
    ['csv', 'text/csv'],
    ['doc', 'application/msword'],
    ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    ['xls', 'application/vnd.ms-excel'],
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['html', 'text/html'],
    ['txt', 'text/plain'],
    ['md', 'text/markdown'],
  ]),
  video: new Map([
    ['mp4', 'video/mp4'],
    ['mov', 'video/quicktime'],
    ['mkv', 'video/x-matroska'],
    ['webm', 'video/webm'],
    ['flv', 'video/x-flv'],
    ['mpeg', 'video/mpeg'],
    ['mpg', 'video/mpg'],
    ['wmv', 'video/x-ms-wmv'],
    ['three_gp', 'video/3gpp'],
  ]),
  audio: new Map([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['opus', 'audio/opus'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['ogg', 'audio/ogg'],
    ['mp4', 'audio/mp4'],
    ['m4a', 'audio/x-m4a'],
    ['webm', 'audio/webm'],
    ['mkv', 'audio/x-matroska'],
    ['pcm', 'audio/pcm'],
  ]),
}

/**
 * `type` of calls and results of tools that the provider ran; other words are those of the client's
 * own tools.
 */
export const isServerType = (type: unknown): boolean =>
  typeof type === 'string' && type !== 'tool_use' && type !== 'tool_result' && type !== 'function'

/** Tools of the provider, by their names in `systemTool` and in calls. */
export const systemTools: ReadonlyMap<string, ServerToolKind> = new Map<string, ServerToolKind>([
  ['nova_grounding', 'web_search'],
  ['nova_code_interpreter', 'code_execution'],
])

/** The nearest tool here for one of another provider, with `serverTools: 'map'`. */
export const nearestServerTool: Partial<Record<ServerToolKind, string>> = {
  web_search: 'nova_grounding',
  code_execution: 'nova_code_interpreter',
}

/**
 * Models that differ in what they accept. `other`: a model of another vendor; `unknown`: the name
 * does not show it, as that of an application inference profile.
 */
export type ConverseFamily =
  | 'claude'
  | 'nova'
  | 'nova2'
  | 'gpt-oss'
  | 'gpt'
  | 'llama'
  | 'mistral'
  | 'qwen'
  | 'deepseek'
  | 'kimi'
  | 'glm'
  | 'minimax'
  | 'writer'
  | 'cohere'
  | 'ai21'
  | 'titan'
  | 'other'
  | 'unknown'

/** Every family. */
export const families = [
  'claude',
  'nova',
  'nova2',
  'gpt-oss',
  'gpt',
  'llama',
  'mistral',
  'qwen',
  'deepseek',
  'kimi',
  'glm',
  'minimax',
  'writer',
  'cohere',
  'ai21',
  'titan',
  'other',
  'unknown',
] as const satisfies readonly ConverseFamily[]

/**
 * Who issues the reasoning signatures of a family, if it is not this protocol: the models of that
 * family sign alike wherever they are reached, and accept each other's signatures.
 */
export const signatureIssuers: Partial<Record<ConverseFamily, string>> & { claude: string } = {
  claude: 'messages',
}
