import { templates } from './sources.ts'
import type { Vendor } from './vendor.ts'

const server = {
  date: '2026-11-30',
  url: 'https://github.com/ggml-org/llama.cpp/blob/25d5b0c53/tools/server/README.md',
}
const pythonServer = {
  date: '2026-11-30',
  url: 'https://github.com/abetlen/llama-cpp-python/blob/d6e6aad92/llama_cpp/llama_types.py',
}
const leaks = { date: '2025-08-14', url: 'https://github.com/ggml-org/llama.cpp/issues/15012' }
const anchors = { date: '2026-07-25', url: 'https://github.com/openclaw/openclaw/issues/113562' }
const prefill = { date: '2026-03-22', url: 'https://github.com/ggml-org/llama.cpp/issues/20861' }

export const llamaCpp = {
  name: 'llama-cpp',
  title: 'llama.cpp',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:8080/v1',
      auth: 'none',
      sources: [server],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:8080',
      auth: 'none',
      sources: [server],
    },
    {
      protocol: 'responses',
      baseUrl: 'http://localhost:8080/v1',
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
      fact: 'Sampling fields beyond the protocol are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { topK: 'write' } },
      sources: [server],
    },
    {
      fact: 'Reasoning is switched in the chat template.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { thinking: 'template' } },
      sources: [server],
    },
    {
      fact: 'Chat templates decide about system messages, also behind the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: [templates],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: [server],
    },
    {
      fact: 'Schemas become grammars: a pattern begins with `^` and ends with `$`.',
      protocols: ['chat-completions', 'messages'],
      options: { tools: { schemas: 'anchored' } },
      sources: [anchors],
    },
    {
      fact: 'Its server for Python refuses `content: null` beside calls, and takes an empty text.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { nullContent: 'text' } },
      sources: [pythonServer],
    },
    {
      fact: 'While a model reasons, as its template decides, a text of the assistant at the end is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { assistantAtEnd: 'unthinking' } },
      sources: [prefill],
    },
    {
      fact: 'Over messages, the format of the output is ignored.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'format' },
      sources: [server],
    },
    {
      fact: 'Over messages, `tool_choice: none` is ignored, and the blocks of two calls overlap.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'tools' },
      sources: [server],
    },
    {
      fact: '`tool_choice` is a word: a tool by its name counts as `auto`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'words' } },
      sources: [server],
    },
  ],
  // Media for a model without a projector, schemas that do not compile, and unknown parameters.
  requestFaults: {
    words: [
      'image input is not supported',
      'audio input is not supported',
      'video input is not supported',
      'Failed to initialize samplers',
      'failed to parse grammar',
      'JSON schema conversion failed',
      'Unsupported param',
      'tools param requires --jinja flag',
      'tool_choice param requires --jinja flag',
    ],
    sources: [server],
  },
} as const satisfies Vendor
