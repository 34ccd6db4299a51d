import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../../canonical/tool.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { takesNoForcedTool } from '../../../models/claude.ts'
import type { TranslationContext } from '../../../protocol.ts'
import { isForeign, isHosted, nearestOf } from '../content/tools.ts'
import type { RequestWriting } from '../content/writing.ts'
import { fault, protocolName } from '../own.ts'
import type { MessagesToolChoice } from '../schema.ts'
import type { MessagesWrittenToolChoice } from '../written.ts'

export function decodeToolChoice(
  wire: MessagesToolChoice,
  tools: readonly Tool[] = [],
): ToolChoice {
  switch (wire.type) {
    case 'auto':
      return { mode: 'auto' }
    case 'any':
      return { mode: 'required' }
    case 'none':
      return { mode: 'none' }
    case 'tool':
      if (wire.name === undefined) throw fault('/tool_choice/name', 'a chosen tool has a name')
      if (tools.some(tool => isHosted(tool) && tool.name === wire.name))
        return { mode: 'tool', kind: 'server', name: wire.name, protocol: protocolName, raw: wire }
      return { mode: 'tool', kind: 'function', name: wire.name }
    default:
      return { mode: 'opaque', protocol: protocolName, raw: wire }
  }
}

const known = keysOf<MessagesToolChoice>()('type disable_parallel_tool_use')
const knownOfTool = keysOf<MessagesToolChoice>()('type name disable_parallel_tool_use')

export const unknownOfToolChoice = (wire: MessagesToolChoice): JsonObject | undefined =>
  unknownOf(wire, wire.type === 'tool' ? knownOfTool : known)

/** Wire names of the tools that may be called. Undefined: any. */
export function allowedNames(context: TranslationContext | undefined): string[] | undefined {
  const names = canonicalNames(context?.request?.toolChoice)
  const renamed = Object.entries(context?.tools ?? {})
  return names?.map(name => renamed.find(([, { name: own }]) => own === name)?.[0] ?? name)
}

function canonicalNames(choice: ToolChoice | undefined): string[] | undefined {
  if (choice?.mode === 'allowed') return choice.tools.map(({ name }) => name)
  return choice?.mode === 'validated' ? choice.tools : undefined
}

// ---- canonical → wire

export function encodeToolChoice(
  request: CanonicalRequest,
  hasTools: boolean,
  writing: RequestWriting,
): MessagesWrittenToolChoice | undefined {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  const { report, native } = writing
  if (!choice && parallel !== false) return undefined
  if (!hasTools && !native) {
    if (choice && choice.mode !== 'auto' && choice.mode !== 'none')
      report.add('tool-choice.without-tools', undefined, 'toolChoice')
    if (parallel === false) report.add('tool-choice.without-tools', undefined, 'parallelToolCalls')
    return undefined
  }
  const word =
    (choice && taken(encodeMode(choice, request, writing), writing)) ??
    (parallel === false ? { type: 'auto' } : undefined)
  if (!word) return undefined
  return parallel === false && word.type !== 'none'
    ? { ...word, disable_parallel_tool_use: true }
    : word
}

/** The choice as the model takes it. */
function taken(
  word: MessagesWrittenToolChoice | undefined,
  { native, model, report }: RequestWriting,
): MessagesWrittenToolChoice | undefined {
  if (native || !isForced(word) || !takesNoForcedTool(model)) return word
  report.add('tool-choice.not-forced', undefined, 'toolChoice')
  return { type: 'auto' }
}

export const isForced = (choice: { type?: unknown } | undefined): boolean =>
  choice?.type === 'any' || choice?.type === 'tool'

function encodeMode(
  choice: ToolChoice,
  { tools }: CanonicalRequest,
  writing: RequestWriting,
): MessagesWrittenToolChoice | undefined {
  const { report, options } = writing
  switch (choice.mode) {
    case 'auto':
      return { type: 'auto' }
    case 'none':
      return { type: 'none' }
    case 'required':
      return { type: 'any' }
    case 'tool': {
      const { name, kind } = choice
      const server =
        kind === 'server'
          ? tools?.filter(isHosted).find(tool => (tool.name ?? tool.tool) === name)
          : undefined
      const mapped = server && isForeign(server) ? nearestOf(server, options)?.name : server && name
      if (mapped !== undefined) return { type: 'tool', name: mapped }
      if (kind === 'server') {
        refuseForeignTools(
          'forced tool',
          { protocol: protocolName, path: '/tool_choice', notes: report.notes },
          options,
        )
        report.add('tool.server', undefined, 'toolChoice')
        return undefined
      }
      return { type: 'tool', name }
    }
    case 'allowed': {
      const [only] = choice.tools
      if (choice.require && choice.tools.length === 1 && only)
        return { type: 'tool', name: only.name }
      return { type: choice.require ? 'any' : 'auto' }
    }
    case 'validated':
      // The passes before the encoder have made it another choice.
      report.add('field.unsupported', undefined, 'toolChoice')
      return undefined
    case 'opaque':
      if (choice.protocol === protocolName && isObject(choice.raw)) return asRead(choice.raw)
      report.add('field.unsupported', undefined, 'toolChoice.raw')
      return undefined
    default:
      return choice satisfies never
  }
}
