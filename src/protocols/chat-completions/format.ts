import type { CanonicalRequest, OutputFormat } from '../../canonical/request.ts'
import { defined, some } from '../../kit/defined.ts'
import { isObject, type JsonObject, same } from '../../kit/json.ts'
import { wrapRoot } from '../../kit/wrapped-output.ts'
import { protocolName, splitNulls } from './own.ts'
import type { ChatRequest } from './schema.ts'
import type { Body, Put } from './settings.ts'
import type { Writing } from './writing.ts'

function decodeFormat(wire: ChatRequest['response_format'], put: Put): OutputFormat | undefined {
  if (!wire) return undefined
  const { type, json_schema: inner, ...rest } = wire as { type: string; json_schema?: unknown }
  if (type === 'text') {
    put('response_format', inner === undefined ? rest : { ...rest, json_schema: inner as JsonObject })
    return { type: 'text' }
  }
  if (type === 'json_object' && inner === undefined) {
    // Some servers accept a schema with the older type `json_object`.
    const { schema, ...unknown } = rest as { schema?: unknown }
    put('response_format', isObject(schema) ? unknown : rest)
    return isObject(schema) ? { type: 'schema', schema } : { type: 'json' }
  }
  if (type !== 'json_schema' || !isObject(inner)) return { type: 'opaque', protocol: protocolName, raw: wire }
  const { present: spec, nothing } = splitNulls(inner)
  const { name, description, schema, strict, ...unknown } = spec as { name?: string; description?: string; schema?: JsonObject; strict?: boolean }
  put('response_format', Object.keys(unknown).length > 0 ? { ...rest, json_schema: unknown } : rest)
  return defined({ type: 'schema' as const, schema: schema ?? {}, name, description, strict: 'strict' in nothing ? (null as boolean | null) : strict })
}

export function decodeOutput({ response_format, verbosity, modalities, audio }: Body, put: Put): CanonicalRequest['output'] {
  return some({ format: decodeFormat(response_format, put), verbosity, modalities, audio })
}

export function encodeOutput({ output, stream }: CanonicalRequest, writing: Writing, form: JsonObject): JsonObject {
  if (!output) return {}
  const { format, verbosity, modalities, audio, ...rest } = output
  writing.report.rest(rest, '', 'output.')
  if (!writing.native && modalities?.some(one => one !== 'text' && one !== 'audio')) writing.report.add('output.modality', '', 'output.modalities')
  return {
    response_format: format && encodeFormat(format, form['format'], writing),
    verbosity,
    // Text alone is the default, and servers that know only text refuse the field.
    modalities: writing.native || modalities?.some(one => one !== 'text') ? modalities : undefined,
    audio: encodeVoice(audio, stream?.enabled === true, writing),
  }
}

function encodeVoice(audio: unknown, streams: boolean, { native, report }: Writing): unknown {
  if (native || !isObject(audio) || audio['format'] !== undefined) return audio
  report.add('output.voice', '', 'output.audio')
  report.add('output.sound-format', '/audio/format')
  // Streams support only `pcm16`.
  return { ...audio, format: streams ? 'pcm16' : 'wav' }
}

function encodeFormat(format: OutputFormat, came: unknown, writing: Writing): unknown {
  const { report } = writing
  const ignore = () => {}
  if (isObject(came) && same(decodeFormat(came as ChatRequest['response_format'], ignore), format)) return came
  switch (format.type) {
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
      return { type: 'json_schema', json_schema: defined({ name: name ?? 'response', description, schema: wrapped ?? schema, strict: strict ?? undefined }) }
    }
    case 'enum':
      report.add('output.enum', '', 'output.format')
      if (wrapRoot(format.schema)) writing.output = 'word'
      return encodeFormat({ type: 'schema', schema: format.schema }, undefined, writing)
    case 'opaque':
      if (format.protocol === protocolName) return format.raw
      report.add('field.unsupported', '', 'output.format')
      return undefined
    default:
      return format satisfies never
  }
}
