import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../../canonical/tool.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { refuseForeignTools } from '../../../kit/tools/foreign-tools.ts'
import { asDeclared } from '../content/tools.ts'
import type { RequestWriting } from '../content/writing.ts'
import { ownObject, protocolName } from '../own.ts'
import type {
  GenerateContentCalling,
  GenerateContentToolConfig,
  GenerateContentWrittenToolConfig,
} from '../schema.ts'
import { nearestServerTool } from '../vocabulary.ts'

const knownConfig = keysOf<GenerateContentToolConfig>()('functionCallingConfig')
const knownCalling = keysOf<NonNullable<GenerateContentToolConfig['functionCallingConfig']>>()(
  'mode allowedFunctionNames',
)

/** `left`: unknown keys, and what has no meaning together. */
export function decodeToolChoice(toolConfig: GenerateContentToolConfig): {
  choice?: ToolChoice | undefined
  left: JsonObject | undefined
} {
  const { functionCallingConfig: calling } = toolConfig
  const unknown = unknownOf(toolConfig, knownConfig)
  if (!calling) return { left: unknown }
  const { mode, allowedFunctionNames } = calling
  const names = allowedFunctionNames ?? []
  const choice = choiceOf(mode, names)
  const isUnread = names.length > 0 && (!choice || choice.mode === 'auto' || choice.mode === 'none')
  const left = omitUndefinedOrNone({
    ...unknownOf(calling, knownCalling),
    mode: choice ? undefined : (mode ?? undefined),
    allowedFunctionNames: isUnread ? names : undefined,
  })
  return { choice, left: left ? { ...unknown, functionCallingConfig: left } : unknown }
}

function choiceOf(
  mode: string | null | undefined,
  names: readonly string[],
): ToolChoice | undefined {
  switch (mode?.toUpperCase()) {
    case 'AUTO':
      return { mode: 'auto' }
    case 'NONE':
      return { mode: 'none' }
    case 'VALIDATED':
      return { mode: 'validated', ...(names.length > 0 && { tools: [...names] }) }
    case 'ANY': {
      const [only] = names
      if (only === undefined) return { mode: 'required' }
      if (names.length === 1) return { mode: 'tool', kind: 'function', name: only }
      return {
        mode: 'allowed',
        require: true,
        tools: names.map(name => ({ kind: 'function', name })),
      }
    }
    default:
      return undefined
  }
}

// ---- canonical → wire

/**
 * `toolConfig`: the choice, and the kept keys. `tools`: all tools of the request, with those added
 * in mid-conversation.
 * @throws TranslationError `inexpressible` when a tool is forced that only another provider knows
 */
export function encodeToolChoice(
  { toolChoice: choice, ext }: CanonicalRequest,
  tools: readonly Tool[],
  writing: RequestWriting,
): GenerateContentWrittenToolConfig | undefined {
  const own = ownObject(ext, 'toolConfig')
  const left = own?.['functionCallingConfig']
  const calling = omitUndefinedOrNone({
    ...(isObject(left) && left),
    ...(choice && callingOf(choice, tools, writing)),
  })
  return calling ? { ...own, functionCallingConfig: calling } : own
}

function callingOf(
  choice: ToolChoice,
  tools: readonly Tool[],
  { report, options, native }: RequestWriting,
): GenerateContentCalling | undefined {
  const mapped = options.serverTools === 'map' ? tools.filter(tool => tool.type === 'server') : []
  const hasFunctions =
    tools.some(({ type }) => type === 'function' || type === 'freeform') ||
    tools.some(tool => asDeclared(tool, options))
  if (!native && !hasFunctions) {
    // Without functions `auto` needs no note, and `none` needs one only if mapped server tools are
    // declared.
    const isLost =
      choice.mode === 'none'
        ? mapped.some(({ tool }) => nearestServerTool[tool])
        : choice.mode !== 'auto'
    if (isLost) report.add('tool-choice.without-tools', undefined, 'toolChoice')
    return undefined
  }
  const refuse = (): undefined => {
    report.add('tool-choice.unsupported', undefined, 'toolChoice')
    return undefined
  }
  switch (choice.mode) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'validated':
      return { mode: 'VALIDATED', ...omitUndefined({ allowedFunctionNames: choice.tools }) }
    case 'tool':
      if (choice.kind === 'server') {
        // A mapped tool is declared, but cannot be forced.
        if (options.serverTools !== 'map')
          refuseForeignTools(
            'forced tool',
            { protocol: protocolName, path: '/tool_choice' },
            options,
          )
        return refuse()
      }
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed': {
      const functions = choice.tools.filter(({ kind }) => kind !== 'server')
      if (functions.length === 0) return refuse()
      for (const { kind, at } of choice.tools)
        if (kind === 'server')
          report.add('tool-choice.unsupported', at ?? report.placeOf('toolChoice'))
      if (!choice.require) report.add('tool-choice.validated', undefined, 'toolChoice')
      return {
        mode: choice.require ? 'ANY' : 'VALIDATED',
        allowedFunctionNames: functions.map(({ name }) => name),
      }
    }
    case 'opaque':
      return choice.protocol === protocolName && isObject(choice.raw) ? choice.raw : refuse()
    default:
      return choice satisfies never
  }
}
