import type { OutputFormat } from '../../../canonical/request.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { wrapRoot } from '../../../kit/response/wrapped-output.ts'
import { asRead } from '../../../kit/schema/written.ts'
import type { RequestWriting, Writing } from '../content/writing.ts'
import { protocolName, withInner } from '../own.ts'
import type { ChatCompletionsBody, ChatCompletionsRequest } from '../schema.ts'
import type { Put } from './settings.ts'

type Schemed = {
  name?: string | null
  description?: string | null
  schema?: JsonObject | null
  strict?: boolean | null
}

const knownOfFormat = keysOf<{ type: string; json_schema: unknown }>()('type json_schema')
const knownOfSchema = keysOf<Schemed>()('name description schema strict')

export function decodeFormat(
  wire: ChatCompletionsRequest['response_format'],
  put: Put,
): OutputFormat | undefined {
  if (!wire) return undefined
  const { type, json_schema: inner } = wire as { type: string; json_schema?: unknown }
  const unknown = unknownOf(wire, knownOfFormat)
  if (type === 'text') {
    put('response_format', inner == null ? unknown : { ...unknown, json_schema: inner })
    return { type: 'text' }
  }
  if (type === 'json_object' && inner == null) {
    // Some servers accept a schema with the older type `json_object`.
    const { schema, ...others } = unknown ?? {}
    put('response_format', isObject(schema) ? omitUndefinedOrNone(others) : unknown)
    return isObject(schema) ? { type: 'schema', schema } : { type: 'json' }
  }
  if (type !== 'json_schema' || !isObject(inner))
    return { type: 'opaque', protocol: protocolName, raw: wire }
  const { name, description, schema, strict } = inner as Schemed
  put('response_format', withInner(unknown, 'json_schema', unknownOf(inner, knownOfSchema)))
  const format = {
    type: 'schema' as const,
    schema: schema ?? {},
    ...omitNullish({ name, description }),
  }
  return strict === undefined ? format : { ...format, strict }
}

/** Text alone is the default, and servers that know only text refuse the field. */
export function encodeModalities(
  modalities: readonly string[],
  { native, report }: Writing,
  field: string,
): readonly string[] | undefined {
  if (!native && modalities.some(one => one !== 'text' && one !== 'audio'))
    report.add('output.modality', '', field)
  return modalities.some(one => one !== 'text') ? modalities : undefined
}

export function encodeVoice(
  audio: unknown,
  { native, report, request }: RequestWriting,
  field: string,
): unknown {
  if (native || !isObject(audio) || audio['format'] !== undefined) return audio
  report.add('output.voice', '', field)
  report.add('output.audio-format', '/audio/format')
  // Streams support only `pcm16`.
  return { ...audio, format: request.stream?.enabled ? 'pcm16' : 'wav' }
}

export function encodeFormat(
  format: OutputFormat | undefined,
  writing: Writing,
): ChatCompletionsBody['response_format'] {
  const { report } = writing
  switch (format?.type) {
    case undefined:
      return undefined
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'schema': {
      const { schema, name, description, strict } = format
      if (name === undefined) report.add('schema.name', '/response_format/json_schema/name')
      const wrapped = writing.native ? undefined : wrapRoot(schema)
      if (wrapped) {
        writing.output ??= 'value'
        report.add('output.wrapped', '', 'output.format.schema')
      }
      return {
        type: 'json_schema',
        json_schema: omitUndefined<
          Extract<
            NonNullable<ChatCompletionsBody['response_format']>,
            { type: 'json_schema' }
          >['json_schema']
        >({
          name: name ?? 'response',
          description,
          schema: wrapped ?? schema,
          strict: writing.native ? strict : (strict ?? undefined),
        }),
      }
    }
    case 'enum':
      report.add('output.enum', '', 'output.format')
      if (wrapRoot(format.schema)) writing.output = 'word'
      return encodeFormat({ type: 'schema', schema: format.schema }, writing)
    case 'opaque':
      if (format.protocol === protocolName) return asRead(format.raw)
      report.add('field.unsupported', '', 'output.format')
      return undefined
    default:
      return format satisfies never
  }
}
