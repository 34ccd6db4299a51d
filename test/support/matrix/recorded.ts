import { type Exchange, recordedSessions } from '../../corpus/data.ts'
import type { Echo } from '../clients/index.ts'
import { isJson } from '../vendors/base/turn.ts'
import type { Agent } from './agents.ts'

/** How each recorded program keeps a response, by the recordings of its second request. */
const habits: Record<string, { echo: Echo; keepsReasoning: boolean }> = {
  'ai-sdk-anthropic': { echo: 'thoughtless', keepsReasoning: true },
  'ai-sdk-compatible': { echo: 'thoughtless', keepsReasoning: true },
  'ai-sdk-google': { echo: 'received', keepsReasoning: true },
  'ai-sdk-openai-chat': { echo: 'rebuilt', keepsReasoning: false },
  'ai-sdk-openai-responses': { echo: 'thoughtless', keepsReasoning: true },
  'anthropic-sdk': { echo: 'received', keepsReasoning: true },
  'claude-code': { echo: 'received', keepsReasoning: true },
  'claude-code-token': { echo: 'received', keepsReasoning: true },
  codex: { echo: 'received', keepsReasoning: true },
  'codex-builtin': { echo: 'received', keepsReasoning: true },
  'codex-classic': { echo: 'received', keepsReasoning: true },
  'codex-lite': { echo: 'received', keepsReasoning: true },
  'gemini-cli': { echo: 'thoughtless', keepsReasoning: true },
  'google-genai': { echo: 'received', keepsReasoning: true },
  'langchain-anthropic': { echo: 'received', keepsReasoning: true },
  'langchain-openai-chat': { echo: 'rebuilt', keepsReasoning: false },
  'langchain-openai-responses': { echo: 'received', keepsReasoning: true },
  'openai-agents-chat': { echo: 'rebuilt', keepsReasoning: false },
  'openai-agents-responses': { echo: 'received', keepsReasoning: true },
  'openai-chat': { echo: 'received', keepsReasoning: true },
  'openai-responses': { echo: 'received', keepsReasoning: true },
  'opencode-chat': { echo: 'thoughtless', keepsReasoning: true },
  'opencode-gemini': { echo: 'received', keepsReasoning: true },
  'opencode-messages': { echo: 'thoughtless', keepsReasoning: true },
  'opencode-responses': { echo: 'thoughtless', keepsReasoning: true },
}

/**
 * Sessions whose first request with tools begins the loop. A session that continues at a server by
 * an id is none.
 */
const begin = /\/(03-agent-multi|0\d-reasoning-tools-stream|0\d-tool-unthreaded)$/

/** Every recorded program, from its first request with tools. */
export function recordedAgents(): Agent[] {
  const found = new Map<string, Agent>()
  for (const { name, protocol, exchanges } of recordedSessions()) {
    const [folder = ''] = name.split('/')
    const client = folder.replace(/-[\d.]+$/, '')
    const first = exchanges.find(({ request }) => isBody(request) && hasTools(request.body))
    if (
      !begin.test(name) ||
      !first ||
      !isJson(first.request.body) ||
      first.request.body['thread'] !== undefined
    )
      continue
    const habit = habits[client]
    if (!habit)
      throw new Error(`say in test/support/matrix/recorded.ts how ${client} keeps a response`)
    const { path, headers, body } = first.request
    const stream =
      protocol === 'generate-content' ? path.includes(':stream') : body['stream'] === true
    found.set(client, {
      name: client,
      protocol,
      agent: headers['user-agent'] ?? '',
      body,
      stream,
      ...habit,
    })
  }
  return [...found.values()]
}

const isBody = ({ method }: Exchange['request']) => method === 'POST'

const hasTools = (body: unknown): boolean =>
  isJson(body) &&
  (Array.isArray(body['tools']) || JSON.stringify(body).includes('"additional_tools"'))
