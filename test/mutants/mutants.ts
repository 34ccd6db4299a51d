import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Faults that a translator could have, each of which some test has to notice. `find` is text that stands exactly once in the
 * files of `room`, so that a fault moves with the code it is in.
 */
export type Mutant = { fault: string; room: string; find: string; replace: string }

const source = fileURLToPath(new URL('../../src/', import.meta.url))

/** The one file that has the text. @throws when none or several have it: the list is out of date */
export function fileOf({ fault, room, find }: Mutant): string {
  const folder = `${source}${room}/`
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
  const found = files.filter(name => readFileSync(folder + name, 'utf8').includes(find))
  const [only] = found
  if (found.length !== 1 || only === undefined) throw new Error(`«${fault}»: its text stands in ${found.length} files of src/${room}`)
  if (readFileSync(folder + only, 'utf8').split(find).length !== 2) throw new Error(`«${fault}»: its text stands more than once in ${only}`)
  return folder + only
}

export function planted({ find, replace }: Mutant, text: string): string {
  return text.replace(find, () => replace)
}

const chat = 'protocols/chat-completions'
const responses = 'protocols/responses'
const messages = 'protocols/messages'

export const mutants: Mutant[] = [
  // ---- chat-completions
  { fault: 'cached tokens are forgotten', room: chat, find: 'cached_tokens: cacheRead ?? 0', replace: 'cached_tokens: 0' },
  { fault: 'the total leaves the output out', room: chat, find: 'input !== undefined && output !== undefined ? input + output : undefined', replace: 'input' },
  {
    fault: 'reasoning outside the completion is not counted',
    room: chat,
    find: 'missing > 0 && total !== undefined',
    replace: 'missing < 0 && total !== undefined',
  },
  { fault: 'a length limit looks like a normal end', room: chat, find: "['length', 'length'],", replace: "['length', 'stop']," },
  {
    fault: 'a filtered answer looks like a normal end',
    room: chat,
    find: "content_filter: { word: 'content_filter', exact: true }",
    replace: "content_filter: { word: 'stop', exact: true }",
  },
  {
    fault: 'a refusal is called exact',
    room: chat,
    find: "refusal: { word: 'content_filter', exact: false }",
    replace: "refusal: { word: 'content_filter', exact: true }",
  },
  {
    fault: 'stop with calls stays stop',
    room: chat,
    find: "if (meaning === 'stop' && hasCalls) return 'tool_calls'",
    replace: "if (meaning === 'stop' && hasCalls) return 'stop'",
  },
  { fault: 'offsets of citations ignore earlier text', room: chat, find: 'before += length', replace: 'before += 0' },
  {
    fault: 'offsets of citations count UTF-16 units',
    room: chat,
    find: 'texts.length > 1 ? [...text].length : 0',
    replace: 'texts.length > 1 ? text.length : 0',
  },
  { fault: 'a custom call becomes a function', room: chat, find: "kind === 'function' ? 'function' : 'custom'", replace: "'function'" },
  {
    fault: 'the second call of a stream has the index of the first',
    room: chat,
    find: 'call.index = choice.nextCall++',
    replace: 'call.index = choice.nextCall',
  },
  { fault: 'text after whole arguments is passed on', room: chat, find: 'if (call.closed) {', replace: 'if (false as boolean) {' },
  { fault: 'arguments that wait for their turn are lost', room: chat, find: 'call.buffer += text', replace: "call.buffer += ''" },
  {
    fault: 'signatures are written bare, without who made them',
    room: chat,
    find: 'return isOwnIssuer(signature.issuer) ? signature.value : wrapSignature(defined({ signature, id }))',
    replace: 'return signature.value',
  },
  {
    fault: 'a foreign signature is sent to a server',
    room: chat,
    find: "if (towards === 'server' && isOwnIssuer(signature.issuer)) return part",
    replace: "if (towards === 'server') return part",
  },
  {
    fault: 'the order of parts is not recorded',
    room: chat,
    find: "const layout = from.towards === 'client' ? unusual(order) : undefined",
    replace: 'const layout = undefined as string[] | undefined',
  },
  {
    fault: 'an overloaded server looks like a bad request',
    room: chat,
    find: "overloaded: { status: 503, type: 'server_error', code: 'overloaded' }",
    replace: "overloaded: { status: 400, type: 'invalid_request_error', code: null }",
  },
  { fault: 'a too long context is an unnamed bad request', room: chat, find: "['context_length_exceeded', 'context_length'],", replace: '' },
  {
    fault: 'unknown fields of a request are not noted',
    room: 'kit',
    find: "for (const key of Object.keys(fields)) push('field.unknown', (at ?? '') + step(key))",
    replace: '',
  },
  { fault: 'a field nobody took is not noted', room: 'kit', find: "if (value !== undefined) push('field.unsupported', at, prefix + key)", replace: '' },
  { fault: 'notes point at the container instead of the field', room: 'kit', find: "return name === '' ? place : `${place}/${name}`", replace: 'return place' },
  { fault: 'long ids are cut instead of hashed', room: 'kit', find: 'return valid.test(id) ? id : `call_${hashId(id)}`', replace: 'return id.slice(0, 40)' },
  { fault: 'renamed tools may collide', room: 'kit', find: '_${hashHex(name, 8)}`', replace: '_`' },
  {
    fault: 'JSON is whole at its first closing brace',
    room: 'kit',
    find: 'progress.depth--\n      if (progress.depth === 0)',
    replace: 'progress.depth--\n      if (progress.depth >= 0)',
  },
  {
    fault: 'an escaped quote ends a string',
    room: 'kit',
    find: 'else if (char === 0x5c) progress.escaped = true',
    replace: 'else if (char === 0x5c) progress.escaped = false',
  },
  {
    fault: 'the grammar of a freeform tool is lost',
    room: 'kit',
    find: "format?.type === 'grammar' ? ` Must match",
    replace: "format?.type === ('none' as string) ? ` Must match",
  },
  { fault: 'an envelope forgets the issuer', room: 'kit', find: 'defined({ i: issuer,', replace: "defined({ i: 'messages'," },
  { fault: 'an envelope forgets where it belongs', room: 'kit', find: ' a: attach, v: value })))', replace: ' v: value })))' },
  // ---- canonical
  {
    fault: 'only the last text delta is collected',
    room: 'canonical',
    find: "if (part.type === 'text' || part.type === 'refusal') part.text += delta.text",
    replace: "if (part.type === 'text' || part.type === 'refusal') part.text = delta.text",
  },
  {
    fault: 'only the last fragment of arguments is collected',
    room: 'canonical',
    find: "if (part.type === 'tool-call') part.input += delta.text",
    replace: "if (part.type === 'tool-call') part.input = delta.text",
  },
  {
    fault: 'only the last citation is collected',
    room: 'canonical',
    find: 'part.citations = [...(part.citations ?? []), delta.citation]',
    replace: 'part.citations = [delta.citation]',
  },
  { fault: 'a stream that was cut off counts as clean', room: 'canonical', find: 'into.clean = event.clean', replace: 'into.clean = true' },
  { fault: 'the final form of a part is ignored', room: 'canonical', find: 'if (part && event.final) replace(part, event.final)', replace: '' },
  // ---- translate
  { fault: 'half a surrogate pair is given on', room: 'translate', find: 'if (last >= 0xd800 && last <= 0xdbff) {', replace: 'if (last < 0) {' },
  {
    fault: 'escapes in freeform input are given as they are',
    room: 'translate',
    find: "out += kind === 'u' ? String.fromCharCode(Number.parseInt(rest.slice(i + 2, i + 6), 16)) : (simpleEscapes[kind] ?? kind)",
    replace: 'out += rest.slice(i, i + length)',
  },
  {
    fault: 'answers keep the changed names of tools',
    room: 'translate',
    find: 'return { ...call, name, ...(namespace !== undefined && { namespace }), ...(wrapped && { kind: ',
    replace: 'return { ...call, ...(wrapped && { kind: ',
  },
  { fault: 'answers keep freeform tools wrapped', room: 'translate', find: "...(wrapped && { kind: 'freeform' as const }) }", replace: '}' },
  { fault: 'the namespace of a tool is not given back', room: 'translate', find: '...(namespace !== undefined && { namespace }), ', replace: '' },
  {
    fault: 'strict lets approximations pass',
    room: 'translate',
    find: "strict === true ? ['dropped', 'approximated']",
    replace: "strict === true ? ['dropped']",
  },
  // ---- messages
  { fault: 'cached input is counted twice', room: messages, find: 'const left = input - cacheRead - cacheWrite', replace: 'const left = input' },
  { fault: 'input of a reply leaves the cache out', room: messages, find: 'fresh + (cacheWrite ?? 0) + (cacheRead ?? 0)', replace: 'fresh' },
  { fault: 'thinking tokens are not told', room: messages, find: 'defined({ thinking_tokens: reasoning })', replace: '{}' },
  { fault: 'a tool call ends as a normal turn', room: messages, find: "['tool_use', 'tool_calls'],", replace: "['tool_use', 'stop']," },
  { fault: 'a long cache lifetime is shortened silently', room: messages, find: "'12h': '1h' }", replace: "'12h': '5m' }" },
  { fault: 'required becomes auto', room: messages, find: "return { type: 'any' }", replace: "return { type: 'auto' }" },
  { fault: 'parallel calls stay allowed', room: messages, find: '? { disable_parallel_tool_use: true } : {}', replace: '? {} : {}' },
  { fault: 'temperature above one is passed on', room: messages, find: 'temperature: hot ? 1 : temperature', replace: 'temperature' },
  {
    fault: 'a hot temperature is clamped without a note',
    room: messages,
    find: "if (hot) report.add('sampling.temperature-clamped', undefined, 'sampling.temperature')",
    replace: '',
  },
  {
    fault: 'a loose schema is enforced without a note',
    room: messages,
    find: "if (format.strict === false) report.add('output.strict', undefined, 'output.format.strict')",
    replace: '',
  },
  {
    fault: 'a stored answer is asked for in silence',
    room: messages,
    find: "if (store) report.add('field.unsupported', undefined, 'state.store')",
    replace: '',
  },
  { fault: 'a stored history is left out instead of refused', room: messages, find: "refer('state.previousId', previousId)", replace: '' },
  { fault: 'long user ids are cut', room: messages, find: 'hashHex(id, 64)', replace: 'id.slice(0, 64)' },
  { fault: 'blocks of a stream share an index', room: messages, find: 'block.index = state.nextIndex++', replace: 'block.index = state.nextIndex' },
  {
    fault: 'a stream without its ending is closed as if whole',
    room: messages,
    find: 'if (!state.finish && !state.promptBlocked) {',
    replace: 'if ((false as boolean) && !state.promptBlocked) {',
  },
  { fault: 'a cut call is closed', room: messages, find: 'if (isCall(open) && !isWhole(open)) return', replace: '' },
  { fault: 'segments of reasoning are joined without a gap', room: messages, find: "const joint = '\\n\\n'.repeat(", replace: "const joint = ''.repeat(" },
  {
    fault: 'a signature is streamed bare',
    room: messages,
    find: "{ type: 'signature_delta', signature: sealed(block, signature) }",
    replace: "{ type: 'signature_delta', signature: signature.value }",
  },
  { fault: 'arguments that are no object are passed as they are', room: messages, find: 'JSON.stringify({ __raw: block.text })', replace: 'block.text' },
  {
    fault: 'citations of others cover the whole text',
    room: messages,
    find: '.filter(edge => edge >= 0 && edge <= points.length)',
    replace: '.filter(edge => edge === 0 || edge === points.length)',
  },
  // ---- responses
  { fault: 'the limit is told as a filter', room: responses, find: "['max_output_tokens', 'length'],", replace: "['max_output_tokens', 'content_filter']," },
  {
    fault: 'a failed reply is completed',
    room: responses,
    find: "case 'error':\n      return { status: 'failed', exact: true }",
    replace: "case 'error':\n      return { status: 'completed', exact: true }",
  },
  {
    fault: 'a pause is called exact',
    room: responses,
    find: "reason: strictEnums ? 'max_output_tokens' : 'pause_turn', exact: of === protocol",
    replace: "reason: strictEnums ? 'max_output_tokens' : 'pause_turn', exact: true",
  },
  { fault: 'cache writes are forgotten', room: responses, find: 'cache_write_tokens: cacheWrite ?? 0', replace: 'cache_write_tokens: 0' },
  { fault: 'reasoning tokens are forgotten', room: responses, find: 'reasoning_tokens: reasoning ?? 0 }', replace: 'reasoning_tokens: 0 }' },
  { fault: 'the end of a citation counts UTF-16 units', room: responses, find: 'end_index: end ?? [...text].length', replace: 'end_index: end ?? text.length' },
  {
    fault: 'a custom call becomes a function call',
    room: responses,
    find: "type: freeform ? 'custom_tool_call' : 'function_call',",
    replace: "type: 'function_call',",
  },
  { fault: 'a failed tool is told without a note', room: responses, find: "if (isError) report.add('tool-result.error-flag', at, 'isError')", replace: '' },
  {
    fault: 'a foreign seal is passed on bare',
    room: responses,
    find: 'const envelope = encrypted ? unwrapSignature(encrypted) : undefined',
    replace: 'const envelope = undefined as ReturnType<typeof unwrapSignature>',
  },
  {
    fault: 'items of a stream are never done',
    room: responses,
    find: "write(state, 'response.output_item.done', { output_index: index, item: structuredClone(item.wire) }, emit)",
    replace: '',
  },
  {
    fault: 'the item that was cut off is completed',
    room: responses,
    find: 'if (item && cut && !state.envelope?.own',
    replace: 'if ((false as boolean) && item && cut && !state.envelope?.own',
  },
  {
    fault: 'summaries share one index',
    room: responses,
    find: 'const place = segments.slice(0, index).filter(one => one.kind === kind).length',
    replace: 'const place = 0',
  },
]
