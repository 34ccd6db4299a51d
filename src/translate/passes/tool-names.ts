import type { Message, Part, Place, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { FreeformTool, FunctionTool, Tool, ToolChoice } from '../../canonical/tool.ts'
import { hashHex } from '../../kit/conversation/ids.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject, setOwn } from '../../kit/json/json.ts'
import { wrapFreeform, wrapInput, wrapValue } from '../../kit/tools/freeform.ts'
import {
  invertNames,
  type PropertyNames,
  renameKeys,
  spellProperties,
} from '../../kit/tools/property-names.ts'
import { flatName, toolKey } from '../../kit/tools/tool-names.ts'
import type { EncodingContext, ToolNameDemands } from '../../protocol.ts'
import type { PassReport } from '../notes.ts'
import { mapParts } from './map-parts.ts'

/** `renamed`: what the response has to undo, by the name in the written request. */
type Named = { request: CanonicalRequest; renamed: NonNullable<EncodingContext['tools']> }

/**
 * Names that the target accepts, without namespaces where it has none, and freeform tools as
 * functions where it has only these: the same in tools, tool choice, calls and results.
 */
export function nameTools(
  request: CanonicalRequest,
  wanted: ToolNameDemands,
  report: PassReport,
): Named {
  const { tools, toolChoice, messages } = request
  if (!tools && !toolChoice && !messages.some(holdsNames)) return { request, renamed: {} }
  const namer = new Namer(tools ?? [], wanted, report)
  const named = tools?.map(tool => namer.tool(tool))
  const choice = toolChoice && namer.choice(toolChoice, report.placeOf('toolChoice'))
  const spoken = nameParts(messages, namer)
  const isSame =
    choice === toolChoice &&
    spoken === messages &&
    (tools === undefined || tools.every((tool, i) => tool === named?.[i]))
  return {
    renamed: namer.renamed,
    request: isSame
      ? request
      : {
          ...request,
          messages: spoken,
          ...(named && { tools: named }),
          ...(choice && { toolChoice: choice }),
        },
  }
}

const holdsNames = ({ parts }: Message) =>
  parts.some(({ type }) => type === 'tool-call' || type === 'tool-result' || type === 'control')

function nameParts(messages: Message[], namer: Namer): Message[] {
  return mapParts(messages, (part): Part => {
    switch (part.type) {
      case 'tool-call':
        return namer.call(part)
      case 'tool-result':
        return namer.result(part)
      case 'control':
        return part.tools ? { ...part, tools: part.tools.map(tool => namer.tool(tool)) } : part
      default:
        return part
    }
  })
}

type Callable = { name: string; namespace?: string; at?: Place }

class Namer {
  readonly renamed: Named['renamed'] = {}
  readonly #wanted: ToolNameDemands
  readonly #report: PassReport
  readonly #written = new Map<string, string>()
  /**
   * By written name: the key of the tool that has it. On a conflict, the tool without a namespace
   * keeps its name.
   */
  readonly #owners = new Map<string, string>()
  readonly #freeform = new Set<string>()
  /** By key of a tool: how its properties are written. */
  readonly #properties = new Map<string, PropertyNames>()
  /** The keys of tools whose arguments are an object around what the client described. */
  readonly #wrapped = new Set<string>()
  readonly #spaces = new Map<string, string | undefined>()

  constructor(tools: readonly Tool[], wanted: ToolNameDemands, report: PassReport) {
    this.#wanted = wanted
    this.#report = report
    for (const tool of tools) {
      if (tool.type === 'opaque' || tool.name === undefined) continue
      const namespace = tool.type === 'server' ? undefined : tool.namespace
      if (namespace === undefined) this.#owners.set(tool.name, toolKey(tool.name, undefined))
      if (tool.type === 'server') continue
      if (!this.#spaces.has(tool.name)) this.#spaces.set(tool.name, namespace)
      if (tool.type === 'freeform') this.#freeform.add(toolKey(tool.name, namespace))
    }
  }

  tool(tool: Tool): Tool {
    if (tool.type !== 'function' && tool.type !== 'freeform') return tool
    if (tool.type === 'freeform') this.#freeform.add(toolKey(tool.name, tool.namespace))
    const named = this.named<FunctionTool | FreeformTool>(this.#spelled(tool), tool)
    if (named.type === 'function' || this.#wanted.freeform !== 'wrapped') return named
    this.#report.add('freeform.wrapped', tool.at)
    return wrapFreeform(named)
  }

  call(part: ToolCallPart): ToolCallPart {
    const named = this.named(this.#spelledCall(part), part)
    const kind = this.kind(part.kind)
    if (kind === part.kind) return named
    this.#report.add('freeform.wrapped', part.at)
    return { ...named, kind, input: wrapInput(part.input) }
  }

  result(part: ToolResultPart): ToolResultPart {
    const kind = this.kind(part.kind)
    const typed = kind === part.kind ? part : { ...part, kind }
    const { name } = typed
    // The name stays if the request neither declares nor calls this tool.
    return name !== undefined && this.#isWritten(name, typed.namespace)
      ? this.named({ ...typed, name }, { ...typed, name })
      : typed
  }

  choice(choice: ToolChoice, at: Place): ToolChoice {
    if (choice.mode === 'tool' && choice.kind !== 'server') {
      const { kind, name, namespace = this.#spaces.get(name) } = choice
      if (kind === 'freeform') this.#freeform.add(toolKey(name, namespace))
      return this.named(
        { ...choice, kind: this.kind(kind) },
        omitUndefined({ name, namespace, at }),
      )
    }
    if (choice.mode !== 'allowed') return choice
    const tools = choice.tools.map(tool => {
      if (tool.kind === 'server') return tool
      const { name } = tool
      const namespace = this.#spaces.get(name)
      return this.named(
        { ...tool, kind: this.kind(tool.kind) },
        omitUndefined({ name, namespace, at: tool.at ?? at }),
      )
    })
    return { ...choice, tools }
  }

  kind(kind: ToolCallPart['kind']): ToolCallPart['kind'] {
    return this.#wanted.freeform === 'wrapped' ? 'function' : kind
  }

  /** The node with the written name of the tool; itself if nothing changes. */
  named<T extends Callable>(node: T, { name, namespace, at }: Callable): T {
    const written = this.#nameOf(name, namespace, at)
    if (this.#wanted.namespaces || namespace === undefined)
      return written === node.name ? node : { ...node, name: written }
    const { namespace: _, ...rest } = node
    return { ...rest, name: written } as T
  }

  #spelled(given: FunctionTool | FreeformTool): FunctionTool | FreeformTool {
    const { spellProperty } = this.#wanted
    if (given.type !== 'function') return given
    const tool = given.wrapped ? this.#unmarked(given) : given
    if (!spellProperty || !isObject(tool.parameters)) return tool
    const { schema, written } = spellProperties(tool.parameters, spellProperty)
    if (schema === tool.parameters) return tool
    this.#properties.set(toolKey(tool.name, tool.namespace), written)
    this.#report.add('tool.property-renamed', tool.at, 'parameters')
    return { ...tool, parameters: schema }
  }

  #unmarked({ wrapped: _, ...tool }: FunctionTool): FunctionTool {
    this.#wrapped.add(toolKey(tool.name, tool.namespace))
    return tool
  }

  #spelledCall(part: ToolCallPart): ToolCallPart {
    const key = toolKey(part.name, part.namespace)
    const written = this.#properties.get(key)
    const value = this.#wrapped.has(key) ? wrapValue(part.input) : part.input
    const input = written ? renameKeys(value, written) : value
    return input === part.input ? part : { ...part, input }
  }

  #isWritten(name: string, namespace: string | undefined): boolean {
    return this.#written.has(toolKey(name, this.#wanted.namespaces ? undefined : namespace))
  }

  #nameOf(name: string, namespace: string | undefined, at: Place | undefined): string {
    const space = this.#wanted.namespaces ? undefined : namespace
    const key = toolKey(name, space)
    const known = this.#written.get(key)
    if (known !== undefined) return known
    const flat = flatName(name, space)
    const written = this.#free(this.#wanted.spell(flat), key, [space ?? null, name])
    this.#written.set(key, written)
    if (space !== undefined) this.#report.add('tool.namespace', at, 'namespace')
    if (written !== flat) this.#report.add('tool.renamed', at, 'name')
    const shape =
      this.#freeform.has(toolKey(name, namespace)) && this.#wanted.freeform
        ? { [this.#wanted.freeform]: true }
        : undefined
    const properties = this.#properties.get(toolKey(name, namespace))
    const value = this.#wrapped.has(toolKey(name, namespace))
    if (written !== name || shape || properties || value)
      setOwn(this.renamed, written, {
        name,
        ...(value && { value }),
        ...(properties && { properties: invertNames(properties) }),
        ...(space !== undefined && { namespace: space }),
        ...shape,
      })
    return written
  }

  /** The name, with a hash if another tool has it. */
  #free(name: string, key: string, identity: readonly unknown[]): string {
    const isTaken = (this.#owners.get(name) ?? key) !== key
    const free = isTaken
      ? `${name.slice(0, this.#wanted.longest - 9)}_${hashHex(JSON.stringify(identity), 8)}`
      : name
    this.#owners.set(free, key)
    return free
  }
}
