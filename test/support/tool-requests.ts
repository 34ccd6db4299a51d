import type { ProtocolName } from '../../src/protocols/index.ts'

export type Schema = Record<string, unknown>
export type Declared = { name: string; description?: string; schema: Schema; strict?: boolean }

/** A request with these functions, in each protocol. */
export const requests: Record<ProtocolName, (tools: readonly Declared[]) => object> = {
  'chat-completions': tools => ({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    tools: tools.map(({ schema, ...named }) => ({
      type: 'function',
      function: { ...named, parameters: schema },
    })),
  }),
  responses: tools => ({
    model: 'm',
    input: 'hi',
    tools: tools.map(({ schema, ...named }) => ({
      type: 'function',
      strict: false,
      ...named,
      parameters: schema,
    })),
  }),
  messages: tools => ({
    model: 'm',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'hi' }],
    tools: tools.map(({ schema, ...named }) => ({ ...named, input_schema: schema })),
  }),
  'generate-content': tools => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    tools: [
      {
        functionDeclarations: tools.map(({ schema, ...named }) => ({
          ...named,
          parametersJsonSchema: schema,
        })),
      },
    ],
  }),
  converse: tools => ({
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
    toolConfig: {
      tools: tools.map(({ schema, ...named }) => ({
        toolSpec: { ...named, inputSchema: { json: schema } },
      })),
    },
  }),
}

/** The functions in a written request. */
export function declaredIn(to: ProtocolName, body: unknown): { name: string; schema: Schema }[] {
  const { tools = [], toolConfig } = body as { tools?: Schema[]; toolConfig?: { tools: Schema[] } }
  const of = (one: unknown) => one as Schema & { name: string }
  if (to === 'converse')
    return (toolConfig?.tools ?? []).map(({ toolSpec }) => ({
      name: of(toolSpec).name,
      schema: of(of(toolSpec)['inputSchema'])['json'] as Schema,
    }))
  if (to === 'generate-content')
    return tools
      .flatMap(({ functionDeclarations }) => functionDeclarations as (Schema & { name: string })[])
      .map(one => ({ name: one.name, schema: one['parametersJsonSchema'] as Schema }))
  return tools.map(tool => {
    const one = of(to === 'chat-completions' ? tool['function'] : tool)
    return { name: one.name, schema: (one['parameters'] ?? one['input_schema']) as Schema }
  })
}
