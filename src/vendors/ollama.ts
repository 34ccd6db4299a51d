import { templates } from './sources.ts'
import type { Vendor } from './vendor.ts'

const ollamaSource = { date: '2026-08-21', url: 'https://github.com/ollama/ollama/tree/fb3076099' }
const leaks = { date: '2025-12-18', url: 'https://github.com/ollama/ollama/issues/13519' }

export const ollama = {
  name: 'ollama',
  title: 'Ollama',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:11434/v1',
      auth: 'none',
      sources: [ollamaSource],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:11434',
      auth: 'none',
      sources: [ollamaSource],
    },
    {
      protocol: 'responses',
      baseUrl: 'http://localhost:11434/v1',
      auth: 'none',
      support: 'partial',
      sources: [ollamaSource],
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
      sources: [ollamaSource],
    },
    {
      fact: 'Reasoning is sent in `reasoning`, and read there.',
      protocols: ['chat-completions'],
      options: {
        chatCompletions: { reasoningField: 'reasoning', reasoningInHistory: 'tool-turns' },
      },
      sources: [ollamaSource],
    },
    {
      fact: 'Chat templates decide about system messages, also behind the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: [templates],
    },
    {
      fact: 'Over messages, the format of the output is ignored.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'format' },
      sources: [ollamaSource],
    },
    {
      fact: 'Over messages, the choice of a tool is ignored.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'tool-choice' },
      sources: [ollamaSource],
    },
    {
      fact: 'There is no `tool_choice` (openai/openai.go).',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'omit' } },
      sources: [ollamaSource],
    },
    {
      fact: 'Images are read as data, not fetched.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { imageUrls: 'text' } },
      sources: [ollamaSource],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: [ollamaSource],
    },
  ],
  // Images for a model without vision, and schemas that do not compile (llm/server.go, model/model.go).
  requestFaults: {
    words: [
      'this model is missing data required for image input',
      'invalid JSON schema in format',
      'invalid format:',
      'Failed to initialize samplers',
      'failed to parse grammar',
    ],
    sources: [ollamaSource],
  },
} as const satisfies Vendor
