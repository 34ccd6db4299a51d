import type { Place } from '../../../canonical/message.ts'
import type { AllowedTool, ToolChoice } from '../../../canonical/tool.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import type { Writing } from '../content/writing.ts'
import { protocolName } from '../own.ts'
import type { ChatCompletionsChosen, ChatCompletionsToolChoice } from '../schema.ts'

const words = new Map<unknown, ToolChoice>([
  ['auto', { mode: 'auto' }],
  ['none', { mode: 'none' }],
  ['required', { mode: 'required' }],
  ['any', { mode: 'required' }],
])

/** `tool_choice`, or the older `function_call`. */
export function decodeToolChoice(wire: unknown): ToolChoice | undefined {
  if (wire === undefined || wire === null) return undefined
  const word = words.get(wire)
  if (word) return word
  if (isObject(wire)) {
    const { type, function: fn, custom, allowed_tools: allowed, name } = wire
    if (type === 'function' && isObject(fn) && typeof fn['name'] === 'string')
      return { mode: 'tool', kind: 'function', name: fn['name'] }
    if (type === 'custom' && isObject(custom) && typeof custom['name'] === 'string')
      return { mode: 'tool', kind: 'freeform', name: custom['name'] }
    if (type === undefined && typeof name === 'string')
      return { mode: 'tool', kind: 'function', name }
    if (
      type === 'allowed_tools' &&
      isObject(allowed) &&
      Array.isArray(allowed['tools']) &&
      isAllowedMode(allowed['mode'])
    ) {
      const tools = allowed['tools'].map((tool: unknown, index) =>
        decodeAllowed(tool, below('/tool_choice/allowed_tools/tools', index)),
      )
      if (tools.every(tool => tool !== undefined))
        return { mode: 'allowed', require: allowed['mode'] === 'required', tools }
    }
  }
  return { mode: 'opaque', protocol: protocolName, raw: wire }
}

/**
 * The keys of a tool choice that have no canonical field. Choices of an unknown type have none:
 * they are kept whole as `opaque`.
 */
export function unknownOfToolChoice(wire: unknown): JsonObject {
  const choice = decodeToolChoice(wire)
  if (!isObject(wire) || !choice || choice.mode === 'opaque') return {}
  // The type is also the key of the object that names the tool; the older field has no type.
  const known = wire['type'] === undefined ? 'name' : String(wire['type'])
  const { type: _, [known]: named, ...outer } = wire
  if (!isObject(named)) return outer
  const { name: _name, mode: _mode, tools, ...rest } = named
  const unknown = Array.isArray(tools) ? tools.map(unknownOfToolChoice) : []
  const inner = unknown.some(entry => Object.keys(entry).length > 0)
    ? { ...rest, tools: unknown }
    : rest
  return Object.keys(inner).length > 0 ? { ...outer, [known]: inner } : outer
}

const isAllowedMode = (mode: unknown) =>
  mode === undefined || mode === null || mode === 'auto' || mode === 'required'

function decodeAllowed(wire: unknown, at: Place): AllowedTool | undefined {
  if (!isObject(wire)) return undefined
  const { type, function: fn, custom, name } = wire
  if (type !== 'function' && type !== 'custom') return undefined
  const inner = type === 'function' ? fn : custom
  const called = isObject(inner) ? inner['name'] : name
  if (typeof called !== 'string') return undefined
  return { kind: type === 'custom' ? 'freeform' : 'function', name: called, at }
}

/** @throws TranslationError `inexpressible` when the forced tool exists only at another provider */
export function encodeToolChoice(
  choice: ToolChoice | undefined,
  writing: Writing,
): ChatCompletionsToolChoice | undefined {
  if (!choice) return undefined
  const { report } = writing
  switch (choice.mode) {
    case 'auto':
    case 'none':
    case 'required':
      return choice.mode
    case 'tool': {
      if (choice.kind === 'server' || writing.isLost?.(choice.name)) {
        refuseForeignTools(
          'forced tool',
          { protocol: protocolName, path: '/tool_choice' },
          writing.options,
        )
        report.add('tool-choice.unsupported', '', 'toolChoice')
        return undefined
      }
      return encodeNamed(choice.kind, choice.name)
    }
    case 'allowed': {
      const isLost = ({ kind, name }: AllowedTool) => kind === 'server' || writing.isLost?.(name)
      const lost = choice.tools.filter(isLost)
      const callable = choice.tools.filter(tool => !isLost(tool))
      const tools = callable.map(tool =>
        encodeNamed(tool.kind === 'freeform' ? tool.kind : 'function', tool.name),
      )
      if (tools.length === 0 && lost.length > 0)
        report.add('tool-choice.unsupported', '', 'toolChoice')
      else
        for (const { at } of lost)
          report.add('tool-choice.unsupported', at ?? report.placeOf('toolChoice'))
      return tools.length === 0
        ? undefined
        : {
            type: 'allowed_tools',
            allowed_tools: { mode: choice.require ? 'required' : 'auto', tools },
          }
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

function encodeNamed(kind: 'function' | 'freeform', name: string): ChatCompletionsChosen {
  return kind === 'function'
    ? { type: 'function', function: { name } }
    : { type: 'custom', custom: { name } }
}
