import { templates } from './sources.ts'
import type { Vendor } from './vendor.ts'

const lmStudioDocs = { date: '2026-04-29', url: 'https://github.com/lmstudio-ai/docs/tree/c6854fb' }
const leaks = {
  date: '2026-05-29',
  url: 'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1979',
}
const anchors = {
  date: '2026-02-10',
  url: 'https://github.com/containers/kubernetes-mcp-server/issues/758',
}
const escapes = { date: '2026-07-12', url: 'https://github.com/rowboatlabs/rowboat/pull/741' }

export const lmStudio = {
  name: 'lm-studio',
  title: 'LM Studio',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:1234/v1',
      auth: 'none',
      sources: [lmStudioDocs],
    },
    {
      protocol: 'responses',
      baseUrl: 'http://localhost:1234/v1',
      auth: 'none',
      tools: ['function', 'mcp'],
      sources: [lmStudioDocs],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:1234',
      auth: 'none',
      sources: [lmStudioDocs],
    },
  ],
  facts: [
    {
      fact: 'Calls of tools may come as text, where a model or its template and the parser differ.',
      capabilities: { leaksToolCalls: true },
      sources: [leaks],
    },
    {
      fact: 'Chat templates decide about system messages; most accept one, at the start.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: [templates],
    },
    {
      fact: 'The token limit is `max_tokens`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { maxTokensField: 'max_tokens' } },
      sources: [lmStudioDocs],
    },
    {
      fact: 'Chat templates decide about system messages, also behind the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: [templates],
    },
    {
      fact: 'There is JSON Schema, but no JSON without one.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { formats: 'json_schema' } },
      sources: [lmStudioDocs],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: [lmStudioDocs],
    },
    {
      fact: 'Its engine is llama.cpp: schemas become grammars, whose patterns begin with `^` and end with `$`.',
      protocols: ['chat-completions', 'messages'],
      options: { tools: { schemas: 'anchored' } },
      sources: [anchors, escapes],
    },
  ],
} as const satisfies Vendor
