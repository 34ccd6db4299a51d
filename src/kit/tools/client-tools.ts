import type { ServerToolKind } from '../../canonical/message.ts'
import type { FunctionTool, ServerTool } from '../../canonical/tool.ts'

const text = { type: 'string' }
const range = { type: 'array', items: { type: 'integer' } }

const object = (properties: Record<string, unknown>, required: string[]) => ({
  type: 'object',
  properties,
  required,
})
const editing = {
  path: text,
  view_range: range,
  file_text: text,
  old_str: text,
  new_str: text,
  insert_line: { type: 'integer' },
  insert_text: text,
}
const command = (...words: string[]) => ({ type: 'string', enum: words })

/**
 * Parameters of these tools, as their vendors document them. Requests contain only the name,
 * because the vendor's models know the rest.
 */
const inputs = new Map<ServerToolKind, FunctionTool['parameters']>([
  ['shell', object({ command: text, restart: { type: 'boolean' } }, [])],
  [
    'text_editor',
    object({ command: command('view', 'create', 'str_replace', 'insert'), ...editing }, [
      'command',
      'path',
    ]),
  ],
  [
    'memory',
    object(
      {
        command: command('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
        ...editing,
        old_path: text,
        new_path: text,
      },
      ['command'],
    ),
  ],
])

/**
 * A built-in tool that the client runs itself, as a function for models of other providers.
 * Undefined: its parameters are not known.
 */
export function asFunction({
  tool,
  name,
  clientExecuted,
  at,
}: ServerTool): FunctionTool | undefined {
  const parameters = clientExecuted && name !== undefined ? inputs.get(tool) : undefined
  return parameters && name !== undefined
    ? { type: 'function', name, parameters, ...(at !== undefined && { at }) }
    : undefined
}
