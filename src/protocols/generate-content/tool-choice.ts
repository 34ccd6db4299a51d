import type { Place } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Tool, ToolChoice } from '../../canonical/tool.ts'
import { defined } from '../../kit/defined.ts'
import { refuseForeignTools } from '../../kit/foreign-tools.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { ownUnder, protocolName } from './own.ts'
import type { GeminiToolConfig } from './schema.ts'
import { asDeclared } from './tools.ts'
import { nearestServerTool } from './vocabulary.ts'
import type { RequestWriting } from './writing.ts'

/** `fields`: unknown keys of `toolConfig`. `nothing`: known keys to write back as they were (empty ones, a mode not in upper case). */
export function decodeToolChoice(toolConfig: GeminiToolConfig): { choice?: ToolChoice; fields: JsonObject; nothing: JsonObject } {
  const { functionCallingConfig: calling, ...others } = toolConfig
  if (!calling) return { fields: others, nothing: calling === null ? { functionCallingConfig: null } : {} }
  const { mode, allowedFunctionNames: names, ...rest } = calling
  const choice = choiceOf(mode, names ?? [])
  const isTold = names != null && names.length > 0 && (!choice || choice.mode === 'auto' || choice.mode === 'none')
  const unknown: JsonObject = {
    ...rest,
    ...(mode != null && !choice && { mode }),
    ...(isTold && { allowedFunctionNames: names }),
  }
  const nothing: JsonObject = {
    ...(mode != null && mode === mode.toUpperCase() ? {} : defined({ mode })),
    ...((names === null || names?.length === 0) && { allowedFunctionNames: names }),
  }
  return {
    fields: Object.keys(unknown).length > 0 ? { functionCallingConfig: unknown, ...others } : others,
    nothing: { functionCallingConfig: nothing },
    ...(choice && { choice }),
  }
}

function choiceOf(mode: string | null | undefined, names: readonly string[]): ToolChoice | undefined {
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
      return { mode: 'allowed', require: true, tools: names.map(name => ({ kind: 'function', name })) }
    }
    default:
      return undefined
  }
}

// ---- canonical → wire

/**
 * `toolConfig`: the choice, and the kept keys. `tools`: all tools of the request, with those added in mid-conversation.
 * @throws TranslationError `inexpressible` when a tool is forced that only another provider knows
 */
export function encodeToolChoice({ toolChoice: choice, ext }: CanonicalRequest, tools: readonly Tool[], writing: RequestWriting): JsonObject | undefined {
  const own = ownUnder(ext, 'toolConfig')
  const held = own?.['functionCallingConfig']
  const { mode, ...kept } = isObject(held) ? held : {}
  const asked = choice && callingOf(choice, tools, writing)
  const names = asked?.['allowedFunctionNames']
  // The mode as it was spelled, if it still means the same choice.
  const isSame =
    choice === undefined || (typeof mode === 'string' && JSON.stringify(choiceOf(mode, Array.isArray(names) ? names : [])) === JSON.stringify(choice))
  const calling = asked || isObject(held) ? { ...asked, ...kept, ...(mode !== undefined && isSame && { mode }) } : undefined
  return own || calling ? { ...own, ...(calling && { functionCallingConfig: calling }) } : undefined
}

function callingOf(choice: ToolChoice, tools: readonly Tool[], { report, options, native, toolName }: RequestWriting): JsonObject | undefined {
  const mapped = options.serverTools === 'map' ? tools.filter(tool => tool.type === 'server') : []
  const hasFunctions = tools.some(({ type }) => type === 'function' || type === 'freeform') || tools.some(tool => asDeclared(tool, options))
  if (!native && !hasFunctions) {
    // Without functions `auto` needs no note, and `none` needs one only if mapped server tools are declared.
    const isLost = choice.mode === 'none' ? mapped.some(({ tool }) => nearestServerTool[tool]) : choice.mode !== 'auto'
    if (isLost) report.add('tool_choice.without-tools', undefined, 'toolChoice')
    return undefined
  }
  // A tool that is not declared is named here first, so its new name is noted here.
  const chosen = (name: string, namespace?: string, at: Place | undefined = report.placeOf('toolChoice')) => toolName(name, namespace, at)
  const refuse = (): undefined => {
    report.add('tool_choice.unsupported', undefined, 'toolChoice')
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
      return { mode: 'VALIDATED', ...defined({ allowedFunctionNames: choice.tools?.map(name => chosen(name)) }) }
    case 'tool':
      if (choice.kind === 'server') {
        // A mapped tool is declared, but cannot be forced.
        if (options.serverTools !== 'map') refuseForeignTools('forced tool', { protocol: protocolName, path: '/tool_choice' }, options)
        return refuse()
      }
      return { mode: 'ANY', allowedFunctionNames: [chosen(choice.name, choice.namespace)] }
    case 'allowed': {
      const functions = choice.tools.filter(({ kind }) => kind !== 'server')
      if (functions.length === 0) return refuse()
      for (const { kind, at } of choice.tools) if (kind === 'server') report.add('tool_choice.unsupported', at ?? report.placeOf('toolChoice'))
      if (!choice.require) report.add('tool_choice.validated', undefined, 'toolChoice')
      return { mode: choice.require ? 'ANY' : 'VALIDATED', allowedFunctionNames: functions.map(({ name, at }) => chosen(name, undefined, at)) }
    }
    case 'opaque':
      return choice.protocol === protocolName && isObject(choice.raw) ? choice.raw : refuse()
    default:
      return choice satisfies never
  }
}
