import { templates } from './sources.ts'
import type { Vendor } from './vendor.ts'

const server = { date: '2026-11-30', url: 'https://github.com/sgl-project/sglang/tree/0c078e6f4' }
const leaks = { date: '2026-05-30', url: 'https://github.com/sgl-project/sglang/issues/26790' }

export const sglang = {
  name: 'sglang',
  title: 'SGLang',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:30000/v1',
      auth: 'none',
      sources: [server],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:30000',
      auth: 'none',
      support: 'partial',
      sources: [server],
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
      fact: 'Reasoning is sent in `reasoning_content`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningField: 'reasoning_content' } },
      sources: [server],
    },
    {
      fact: 'Reasoning is switched in the chat template.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { thinking: 'template' } },
      sources: [server],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: [server],
    },
  ],
} as const satisfies Vendor
