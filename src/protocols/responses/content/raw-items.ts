import type {
  ControlPart,
  Message,
  Part,
  Place,
  Role,
  ServerToolPart,
} from '../../../canonical/message.ts'
import { rawOf, withoutPlace } from '../../../kit/conversation/without-place.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { asRead } from '../../../kit/schema/written.ts'
import type { ResponsesReport } from '../notes.ts'
import { protocolName } from '../own.ts'
import type { ResponsesWrittenItem } from '../schema.ts'
import { builtInItem } from '../vocabulary.ts'
import { itemOf } from './item-head.ts'
import { imageOf } from './media.ts'
import { decodeAddedTools, encodeTools } from './tools.ts'
import { unresolvable, type Writing } from './writing.ts'

const controls = new Map<string, { control: ControlPart['control']; role: Role }>([
  ['item_reference', { control: 'item-reference', role: 'user' }],
  ['compaction', { control: 'compaction', role: 'assistant' }],
  ['compaction_trigger', { control: 'compaction-trigger', role: 'user' }],
  ['additional_tools', { control: 'tool-addition', role: 'developer' }],
  ['configuration_update', { control: 'configuration', role: 'developer' }],
])

/**
 * An item without an equivalent in other protocols: kept whole, with its id, in a part that has its
 * meaning.
 */
export function decodeRaw(
  wire: JsonObject,
  type: string,
  at: Place,
  report?: ResponsesReport,
): Message {
  const control = controls.get(type)
  if (control) {
    const tools = type === 'additional_tools' ? decodeAddedTools(wire, at, report) : undefined
    const effort = control.control === 'configuration' ? effortOf(wire) : undefined
    const part: ControlPart = {
      type: 'control',
      control: control.control,
      protocol: protocolName,
      raw: wire,
      at,
    }
    if (tools) part.tools = tools
    if (effort) part.effort = effort
    return itemOf(control.role, part, at)
  }
  const known = builtInItem(type)
  if (!known)
    return itemOf('assistant', { type: 'opaque', protocol: protocolName, raw: wire, at }, at)
  const tools = type === 'tool_search_output' ? decodeAddedTools(wire, at, report) : undefined
  const id = [wire['call_id'], wire['id'], wire['approval_request_id']].find(
    one => typeof one === 'string',
  )
  const part: ServerToolPart = {
    type: 'server-tool',
    ...known,
    id: typeof id === 'string' ? id : '',
    protocol: protocolName,
    raw: wire,
    ...(awaitsClient(wire, type) && { awaitsClient: true }),
    ...(tools && { tools }),
    ...(type === 'image_generation_call' && imageOf(wire, at)),
    at,
  }
  return itemOf(
    type.endsWith('_output') && known.phase === 'result' && type !== 'program_output'
      ? 'tool'
      : 'assistant',
    part,
    at,
  )
}

/** The effort, if an update changes nothing else. */
function effortOf({ type: _, id: __, reasoning, ...rest }: JsonObject): string | undefined {
  if (!isObject(reasoning) || Object.keys(rest).length > 0) return undefined
  const { effort, ...others } = reasoning
  return typeof effort === 'string' && Object.keys(others).length === 0 ? effort : undefined
}

/** Must the client give a result for this item before the model continues? */
function awaitsClient(wire: JsonObject, type: string): boolean {
  switch (type) {
    case 'computer_call':
    case 'local_shell_call':
    case 'apply_patch_call':
    case 'mcp_approval_request':
      return true
    case 'shell_call':
      return !isObject(wire['environment']) || wire['environment']['type'] === 'local'
    case 'tool_search_call':
      return wire['execution'] === 'client'
    default:
      return false
  }
}

/**
 * Items that only their own protocol can express.
 * @throws TranslationError `inexpressible` where leaving one out would change the request's meaning
 */
export function encodeRaw(
  part: ServerToolPart | ControlPart | Extract<Part, { type: 'opaque' }>,
  writing: Writing,
): ResponsesWrittenItem[] {
  const { report, target } = writing
  const raw = rawOf(part, protocolName)
  if (raw) {
    const { id } = raw
    // No other item gets its id.
    if (typeof id === 'string') writing.itemId?.(id, '')
    return [asRead(raw)]
  }
  if (part.type === 'control') {
    if (part.control === 'tool-addition' && part.tools?.length) {
      report.add('tool.addition', part.at)
      return [
        { type: 'additional_tools', role: 'developer', tools: encodeTools(part.tools, writing) },
      ]
    }
    if (part.control === 'configuration' && part.effort !== undefined)
      return [{ type: 'configuration_update', reasoning: { effort: part.effort } }]
  }
  withoutPlace(part, {
    report,
    to: target === 'input' ? 'provider' : 'client',
    unresolvable: control => unresolvable(control.at, undefined, writing),
  })
  return []
}
