import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { ToolChoice } from '../../../canonical/tool.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { takesNoForcedTool, takesSerialCalls } from '../../../models/claude.ts'
import type { RequestWriting } from '../content/writing.ts'
import { protocolName } from '../own.ts'
import type { ConverseToolChoice } from '../schema.ts'
import type { ConverseFamily } from '../vocabulary.ts'
import type { ConverseWrittenToolChoice } from '../written.ts'

export function decodeToolChoice(wire: ConverseToolChoice): ToolChoice {
  const [key, ...others] = Object.keys(wire).filter(name => wire[name] != null)
  const inner = key === undefined ? undefined : wire[key]
  if (key !== undefined && others.length === 0 && isObject(inner)) {
    const isBare = Object.keys(inner).length === 0
    if (key === 'auto' && isBare) return { mode: 'auto' }
    if (key === 'any' && isBare) return { mode: 'required' }
    const { name, ...more } = inner
    if (key === 'tool' && typeof name === 'string' && Object.keys(more).length === 0)
      return { mode: 'tool', kind: 'function', name }
  }
  return { mode: 'opaque', protocol: protocolName, raw: wire }
}

/**
 * The tool choice of the messages protocol, for models of Claude, which says also whether calls may
 * be parallel. Undefined: it says anything else.
 */
export function decodeClaudeChoice(
  wire: unknown,
): { choice: ToolChoice; parallel?: boolean } | undefined {
  if (!isObject(wire)) return undefined
  const { type, name, disable_parallel_tool_use: disabled, ...more } = wire
  if (Object.keys(more).length > 0 || (disabled !== undefined && typeof disabled !== 'boolean'))
    return undefined
  const parallel = disabled === undefined ? {} : { parallel: !disabled }
  if (type === 'tool')
    return typeof name === 'string'
      ? { choice: { mode: 'tool', kind: 'function', name }, ...parallel }
      : undefined
  const mode = name === undefined ? modes.get(type) : undefined
  return mode && { choice: { mode }, ...parallel }
}

const modes = new Map<unknown, 'auto' | 'required' | 'none'>([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
])

// ---- canonical → wire

/** Models that cannot be forced to call a tool. */
const unforced: ReadonlySet<ConverseFamily> = new Set(['llama', 'qwen', 'deepseek', 'minimax'])

/** `fields`: of the model's own API, where that says more than `toolChoice`. */
export type Chosen = { toolChoice?: ConverseWrittenToolChoice; fields?: JsonObject }

/** `tools`: how many are written. */
export function encodeToolChoice(
  request: CanonicalRequest,
  tools: number,
  writing: RequestWriting,
): Chosen {
  const { toolChoice: choice, parallelToolCalls: parallel } = request
  const { report, native, family, model } = writing
  if (tools === 0 && !native) {
    if (choice?.mode === 'none' && request.tools?.length)
      report.add('tool-choice.none', undefined, 'toolChoice')
    else if (choice && choice.mode !== 'auto' && choice.mode !== 'none')
      report.add('tool-choice.without-tools', undefined, 'toolChoice')
    if (parallel === false) report.add('tool-choice.without-tools', undefined, 'parallelToolCalls')
    return {}
  }
  const toolChoice = choice && encodeMode(choice, writing)
  if (parallel !== false) return toolChoice ? { toolChoice } : {}
  const isSupported = native || (family === 'claude' && takesSerialCalls(model))
  if (!isSupported) {
    report.add('field.unsupported', undefined, 'parallelToolCalls')
    return toolChoice ? { toolChoice } : {}
  }
  // Both spellings together are refused.
  return {
    fields: {
      tool_choice: {
        ...asClaudeChoice(toolChoice ?? { auto: {} }),
        disable_parallel_tool_use: true,
      },
    },
  }
}

function asClaudeChoice({ any, tool }: ConverseWrittenToolChoice): JsonObject {
  if (tool) return { type: 'tool', name: tool.name }
  return { type: any ? 'any' : 'auto' }
}

function encodeMode(
  choice: ToolChoice,
  writing: RequestWriting,
): ConverseWrittenToolChoice | undefined {
  const { report, options, native, family } = writing
  switch (choice.mode) {
    case 'auto':
      return { auto: {} }
    case 'none':
      if (native) return undefined
      report.add('tool-choice.none-not-enforced', undefined, 'toolChoice')
      return { auto: {} }
    case 'required':
      return forced({ any: {} }, writing)
    case 'tool':
      if (choice.kind === 'server') {
        refuseForeignTools(
          'forced tool',
          { protocol: protocolName, path: '/toolConfig/toolChoice', notes: report.notes },
          options,
        )
        report.add('tool.server', undefined, 'toolChoice')
        return undefined
      }
      if (family === 'mistral' && !native) {
        report.add('tool-choice.subset-filtered', undefined, 'toolChoice')
        return { any: {} }
      }
      return forced({ tool: { name: choice.name } }, writing)
    case 'allowed': {
      const [only] = choice.tools
      if (!choice.require) return { auto: {} }
      return forced(
        choice.tools.length === 1 && only ? { tool: { name: only.name } } : { any: {} },
        writing,
      )
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

function forced(
  choice: ConverseWrittenToolChoice,
  { report, native, family, model }: RequestWriting,
): ConverseWrittenToolChoice | undefined {
  const decides = family === 'claude' && takesNoForcedTool(model)
  if (native || !(unforced.has(family) || decides)) return choice
  report.add('tool-choice.not-forced', undefined, 'toolChoice')
  return decides ? { auto: {} } : undefined
}
