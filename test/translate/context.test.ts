import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { blocks, chat, gemini, items } from '../support/examples/wires.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

const server = {
  type: 'mcp',
  server_label: 'docs',
  server_url: 'https://example.org/mcp',
  require_approval: 'never',
}
const opened = { ...server, authorization: 'secret-token', headers: { 'x-key': 'secret-value' } }
const covered = { ...server, headers: { 'x-key': '<redacted>' } }
const network = (value: string) => ({
  type: 'auto',
  network_policy: {
    type: 'allowlist',
    allowed_domains: ['example.org'],
    domain_secrets: [{ domain: 'example.org', name: 'KEY', value }],
  },
})
const shell = (value: string) => ({ type: 'shell', environment: network(value) })
const interpreter = (value: string) => ({ type: 'code_interpreter', container: network(value) })
const group = { type: 'namespace', name: 'team', description: '' }
const named = {
  type: 'url',
  name: 'docs',
  url: 'https://example.org/mcp',
  authorization_token: 'secret-token',
}

/** What each protocol says of servers of tools, and what opens them. */
const asking: [from: ProtocolName, what: string, request: object][] = [
  [
    'chat-completions',
    'an unknown tool',
    {
      ...chat.request({}),
      tools: [chat.tool('look'), { type: 'mcp', mcp: { authorization: 'secret-token' } }],
    },
  ],
  ['responses', 'a server', { input: 'hi', tools: [items.tool('look'), opened] }],
  [
    'responses',
    'a server in a group',
    { input: 'hi', tools: [items.tool('look'), { ...group, tools: [opened] }] },
  ],
  [
    'responses',
    'a server in groups of groups',
    {
      input: 'hi',
      tools: [items.tool('look'), { ...group, tools: [{ ...group, tools: [opened] }] }],
    },
  ],
  [
    'responses',
    'a shell that has secrets',
    { input: 'hi', tools: [items.tool('look'), shell('secret-value')] },
  ],
  [
    'responses',
    'a container that has secrets',
    { input: 'hi', tools: [items.tool('look'), interpreter('secret-value')] },
  ],
  ['responses', 'unknown fields', { input: 'hi', mcp_servers: [opened] }],
  [
    'messages',
    'a server',
    {
      ...blocks.request({}),
      mcp_servers: [named],
      tools: [blocks.tool('look'), { type: 'mcp_toolset', mcp_server_name: 'docs' }],
    },
  ],
  ['messages', 'a server without its tools', { ...blocks.request({}), mcp_servers: [named] }],
  [
    'generate-content',
    'a server',
    {
      ...gemini.request({}),
      tools: [
        { functionDeclarations: [{ name: 'look' }] },
        {
          mcpServers: [
            {
              name: 'docs',
              streamableHttpTransport: {
                url: 'https://example.org/mcp',
                headers: { Authorization: 'Bearer secret-token' },
              },
            },
          ],
        },
      ],
    },
  ],
]

describe.each(asking)('the context of a request of %s with %s', (from, _, request) => {
  test.each(protocolNames.filter(to => to !== from))('contains no secrets, for %s', to => {
    const { context } = translateRequest(request, { from, to, tools: { serverTools: 'map' } })
    expect(JSON.stringify(context)).not.toContain('secret-')
  })
})

describe('a response of responses', () => {
  const repeated = (tool: object) => {
    const { context } = translateRequest(
      { input: 'hi', tools: [items.tool('look'), tool] },
      { from: 'responses', to: 'messages' },
    )
    const { body } = translateResponse(blocks.response([{ type: 'text', text: 'yes' }]), {
      from: 'messages',
      to: 'responses',
      context,
    })
    return (body as { tools: unknown[] }).tools[1]
  }

  test('repeats a container without the values of its secrets', () => {
    for (const tool of [shell, interpreter])
      expect(repeated(tool('secret-value'))).toEqual(tool('<redacted>'))
  })

  test('repeats an MCP server, also in groups, without its secrets', () => {
    expect(repeated(opened)).toEqual(covered)
    expect(repeated({ ...group, tools: [opened] })).toEqual({ ...group, tools: [covered] })
    expect(repeated({ ...group, tools: [{ ...group, tools: [opened] }] })).toEqual({
      ...group,
      tools: [{ ...group, tools: [covered] }],
    })
  })
})
