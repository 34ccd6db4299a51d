import type { Place } from '../../../canonical/message.ts'
import type { AllowedTool, Tool, ToolChoice } from '../../../canonical/tool.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import type { Undefinable } from '../../../kit/schema/written.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { asFunction } from '../../../kit/tools/client-tools.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { nearestOf } from '../content/tools.ts'
import type { Writing } from '../content/writing.ts'
import { protocolName } from '../own.ts'
import type { ResponsesChosen, ResponsesNamed, ResponsesWrittenChoice } from '../schema.ts'
import { serverToolKind } from '../vocabulary.ts'

/** `fields`: unknown keys are added to it. */
export function decodeToolChoice(
  wire: string | (JsonObject & { type: string }),
  fields: JsonObject,
): ToolChoice {
  if (typeof wire === 'string')
    return wire === 'auto' || wire === 'none' || wire === 'required'
      ? { mode: wire }
      : { mode: 'opaque', protocol: protocolName, raw: wire }
  const { type, name, namespace, ...rest } = wire
  const leave = (left: JsonObject) => {
    if (Object.keys(left).length > 0) fields['tool_choice'] = left
  }
  switch (type) {
    case 'function':
    case 'custom': {
      if (typeof name !== 'string') return { mode: 'opaque', protocol: protocolName, raw: wire }
      const kind = type === 'function' ? ('function' as const) : ('freeform' as const)
      leave(
        namespace === undefined || typeof namespace === 'string' ? rest : { namespace, ...rest },
      )
      return { mode: 'tool', kind, name, ...(typeof namespace === 'string' && { namespace }) }
    }
    case 'allowed_tools': {
      const { mode, tools, ...others } = rest
      if (
        !Array.isArray(tools) ||
        !tools.every(isObject) ||
        (mode !== 'auto' && mode !== 'required')
      )
        return { mode: 'opaque', protocol: protocolName, raw: wire }
      const unread = tools.map(unknownOfAllowed)
      const odd = unread.some(left => Object.keys(left).length > 0)
      leave({
        ...(name !== undefined && { name }),
        ...(namespace !== undefined && { namespace }),
        ...others,
        ...(odd && { tools: unread }),
      })
      return {
        mode: 'allowed',
        require: mode === 'required',
        tools: tools.map((tool, index) => decodeAllowed(tool, below('/tool_choice/tools', index))),
      }
    }
    default: {
      const named = serverName(name, rest['server_label']) ?? serverToolKind(type) ?? type
      return serverToolKind(type)
        ? { mode: 'tool', kind: 'server', name: named, protocol: protocolName, raw: wire }
        : { mode: 'opaque', protocol: protocolName, raw: wire }
    }
  }
}

/** The name of a provider's tool, or else the label of its server. */
function serverName(name: unknown, label: unknown): string | undefined {
  if (typeof name === 'string') return name
  return typeof label === 'string' ? label : undefined
}

function decodeAllowed(raw: JsonObject, at: Place = ''): AllowedTool {
  const { type, name, server_label: label, ...rest } = raw
  const extra = Object.keys(rest).length > 0 ? { protocol: protocolName, raw } : {}
  if (type === 'function' && typeof name === 'string')
    return { kind: 'function', name, at, ...extra }
  if (type === 'custom' && typeof name === 'string') return { kind: 'freeform', name, at, ...extra }
  const named = serverName(name, label) ?? String(type)
  return { kind: 'server', name: named, at, protocol: protocolName, raw }
}

/**
 * The unknown keys of an entry, which other protocols lose. None for a provider's tool, which is
 * kept and noted as a whole.
 */
function unknownOfAllowed(raw: JsonObject): JsonObject {
  if (decodeAllowed(raw).kind === 'server') return {}
  const { type: _, name: _name, namespace, ...rest } = raw
  return namespace === undefined || typeof namespace === 'string' ? rest : { namespace, ...rest }
}

/**
 * `tools`: the tools of the request. Undefined: this protocol has no form for the choice, which is
 * noted.
 * @throws TranslationError `inexpressible` for a forced tool that does not exist here, unless the
 * options ask for a note
 */
export function encodeToolChoice(
  choice: ToolChoice,
  tools: readonly Tool[],
  writing: Writing,
): ResponsesWrittenChoice | undefined {
  const { report } = writing
  switch (choice.mode) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.mode
    case 'tool': {
      const { kind, name, namespace, protocol: of, raw } = choice
      if (of === protocolName && raw !== undefined) return asRead(raw)
      const server = tools.find(
        tool => tool.type === 'server' && tool.name === name && tool.protocol !== protocolName,
      )
      if (kind !== 'server' && !server)
        return omitUndefined<Undefinable<ResponsesNamed>>({
          type: kind === 'function' ? 'function' : 'custom',
          name,
          namespace,
        })
      if (server?.type === 'server' && writing.options.expandClientTools && asFunction(server))
        return { type: 'function', name }
      const nearby =
        server?.type === 'server' && writing.options.serverTools === 'map'
          ? nearestOf(server)?.type
          : undefined
      if (nearby !== undefined) return { type: nearby }
      if (writing.target === 'output') return undefined
      refuseForeignTools(
        'forced tool',
        { protocol: protocolName, path: '/tool_choice' },
        writing.options,
      )
      report.add('tool-choice.unsupported', '', 'toolChoice')
      return undefined
    }
    case 'allowed': {
      const tools = flatMap(choice.tools, tool => encodeAllowed(tool, writing) ?? [])
      return { type: 'allowed_tools', mode: choice.require ? 'required' : 'auto', tools }
    }
    case 'validated':
      // The passes before the encoder have made it another choice.
      report.add('tool-choice.unsupported', '', 'toolChoice')
      return undefined
    case 'opaque':
      if (choice.protocol === protocolName) return asRead(choice.raw)
      report.add('tool-choice.unsupported', '', 'toolChoice.raw')
      return undefined
    default:
      return choice satisfies never
  }
}

function encodeAllowed(
  { kind, name, at, protocol: of, raw }: AllowedTool,
  writing: Writing,
): ResponsesChosen | undefined {
  if (of === protocolName && raw !== undefined) return asRead(raw)
  if (kind !== 'server') return { type: kind === 'function' ? 'function' : 'custom', name }
  writing.report.add('tool-choice.unsupported', at ?? writing.report.placeOf('toolChoice'))
  return undefined
}
