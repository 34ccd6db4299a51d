import type { Vendor } from './vendor.ts'

export const llamaCpp = {
  name: 'llama-cpp',
  title: 'llama.cpp',
  endpoints: [
    {
      protocol: 'chat-completions',
      baseUrl: 'http://localhost:8080/v1',
      auth: 'none',
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
    {
      protocol: 'messages',
      baseUrl: 'http://localhost:8080',
      auth: 'none',
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
    {
      protocol: 'responses',
      baseUrl: 'http://localhost:8080/v1',
      auth: 'none',
      support: 'partial',
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
  ],
  facts: [
    {
      fact: 'Calls of tools may come as text, where a model or its template and the parser differ.',
      capabilities: { leaksToolCalls: true },
      sources: ['https://github.com/ggml-org/llama.cpp/issues/17155'],
    },
    {
      fact: 'Chat templates decide about system messages; most accept one, at the start.',
      protocols: ['chat-completions'],
      options: { systemPlacement: 'auto', chatCompletions: { instructionsRole: 'system' } },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'Reasoning is sent in `reasoning_content`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { reasoningField: 'reasoning_content' } },
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
    {
      fact: 'Sampling fields beyond the protocol are accepted.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { topK: 'write' } },
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
    {
      fact: 'Reasoning is switched in the chat template.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { thinking: 'template' } },
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
    {
      fact: 'Chat templates decide about system messages, also behind the messages protocol.',
      protocols: ['messages'],
      options: { systemPlacement: 'user' },
      sources: ['https://github.com/ollama/ollama/issues/17774'],
    },
    {
      fact: 'The arguments of earlier calls are parsed, and a request with broken ones is refused.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { brokenArguments: 'wrap' } },
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
    {
      fact: 'Schemas become grammars: a pattern begins with `^` and ends with `$`.',
      protocols: ['chat-completions', 'messages'],
      options: { tools: { schemas: 'anchored' } },
      sources: ['https://github.com/openclaw/openclaw/issues/113562'],
    },
    {
      fact: 'Its server for Python refuses `content: null` beside calls, and takes an empty text.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { nullContent: 'text' } },
      sources: ['https://github.com/abetlen/llama-cpp-python'],
    },
    {
      fact: 'Over messages, the format of the output is ignored.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'format' },
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
    {
      fact: 'Over messages, `tool_choice: none` is ignored, and the blocks of two calls overlap.',
      protocols: ['messages'],
      speak: { protocol: 'chat-completions', when: 'tools' },
      sources: ['https://github.com/ggml-org/llama.cpp'],
    },
    {
      fact: '`tool_choice` is a word: a tool by its name counts as `auto`.',
      protocols: ['chat-completions'],
      options: { chatCompletions: { toolChoice: 'words' } },
      sources: ['https://github.com/ggml-org/llama.cpp'],
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
    sources: ['https://github.com/ggml-org/llama.cpp'],
  },
} as const satisfies Vendor
