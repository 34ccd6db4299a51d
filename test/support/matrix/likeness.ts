import type { Agent } from './agents.ts'

// Requests in the likeness of what programs send, with the fields that vendors are known to refuse.

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    lines: { type: 'integer', exclusiveMinimum: 0 },
  },
  required: ['path'],
  additionalProperties: false,
}
const ask = 'Read the file, then count its lines.'

export const likeAgents: Agent[] = [
  {
    name: 'a coding agent over messages',
    protocol: 'messages',
    agent: 'claude-cli/2.1.329 (external, cli)',
    stream: true,
    echo: 'received',
    keepsReasoning: true,
    body: {
      max_tokens: 32_000,
      stream: true,
      system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: ask }] },
        {
          role: 'system',
          content: [
            {
              type: 'text',
              text: 'The folder is /home/user.',
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
      ],
      tools: [{ name: 'Read', description: 'Reads a file.', input_schema: schema }],
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
      metadata: { user_id: 'user' },
    },
  },
  {
    name: 'a program over messages',
    protocol: 'messages',
    agent: 'ai-sdk/anthropic/4.0.105',
    stream: true,
    echo: 'thoughtless',
    keepsReasoning: true,
    body: {
      max_tokens: 8000,
      stream: true,
      messages: [{ role: 'user', content: ask }],
      tools: [{ name: 'read', input_schema: schema, eager_input_streaming: true }],
      tool_choice: { type: 'auto' },
      thinking: { type: 'enabled', budget_tokens: 2048 },
    },
  },
  {
    name: 'a coding agent over responses',
    protocol: 'responses',
    agent: 'codex_cli_rs/0.169.0',
    stream: true,
    echo: 'received',
    keepsReasoning: true,
    body: {
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: '00000000-0000-4000-8000-000000000001',
      reasoning: { effort: 'medium', summary: 'auto' },
      text: { verbosity: 'low' },
      parallel_tool_calls: true,
      tool_choice: 'auto',
      input: [
        {
          type: 'message',
          role: 'developer',
          content: [{ type: 'input_text', text: 'You are an agent.' }],
        },
        {
          type: 'message',
          role: 'developer',
          content: [{ type: 'input_text', text: 'Be brief.' }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: ask }] },
      ],
      tools: [{ type: 'function', name: 'exec_command', strict: false, parameters: schema }],
    },
  },
  {
    name: 'an agent over generate-content',
    protocol: 'generate-content',
    agent: 'GeminiCLI/0.61.0',
    stream: true,
    echo: 'thoughtless',
    keepsReasoning: true,
    body: {
      systemInstruction: { role: 'user', parts: [{ text: 'You are an agent.' }] },
      contents: [{ role: 'user', parts: [{ text: ask }] }],
      tools: [
        {
          functionDeclarations: [
            { name: 'read_file', description: 'Reads a file.', parametersJsonSchema: schema },
          ],
        },
      ],
      generationConfig: {
        temperature: 1,
        topP: 0.95,
        topK: 64,
        thinkingConfig: { includeThoughts: true },
      },
    },
  },
  {
    name: 'a coding agent over chat-completions',
    protocol: 'chat-completions',
    agent: 'opencode/1.18.33',
    stream: true,
    echo: 'thoughtless',
    keepsReasoning: true,
    body: {
      max_tokens: 8192,
      stream: true,
      stream_options: { include_usage: true },
      tool_choice: 'auto',
      messages: [
        { role: 'system', content: 'You are an agent.' },
        { role: 'user', content: ask },
      ],
      tools: [{ type: 'function', function: { name: 'read', parameters: schema } }],
    },
  },
  {
    name: 'a program over chat-completions',
    protocol: 'chat-completions',
    agent: 'OpenAI/JS 7.55.0',
    stream: false,
    echo: 'rebuilt',
    keepsReasoning: false,
    body: {
      max_completion_tokens: 4000,
      store: false,
      metadata: { run: '7' },
      prompt_cache_key: 'run',
      reasoning_effort: 'medium',
      parallel_tool_calls: true,
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'You are an agent.' }] },
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: ask },
        { role: 'system', content: 'The folder is /home/user.' },
      ],
      tools: [{ type: 'function', function: { name: 'read', strict: false, parameters: schema } }],
    },
  },
  {
    name: 'an agent over converse',
    protocol: 'converse',
    agent: 'Boto3/1.43.11 md/Botocore#1.43.11 lang/python#3.12',
    stream: true,
    echo: 'received',
    keepsReasoning: true,
    body: {
      system: [{ text: 'You are an agent.' }],
      messages: [{ role: 'user', content: [{ text: ask }] }],
      inferenceConfig: { maxTokens: 8000 },
      toolConfig: {
        tools: [
          {
            toolSpec: { name: 'read', description: 'Reads a file.', inputSchema: { json: schema } },
          },
        ],
        toolChoice: { auto: {} },
      },
    },
  },
  {
    name: 'a program over converse',
    protocol: 'converse',
    agent: 'aws-sdk-js/3.1163.0 ua/2.1 lang/js',
    stream: false,
    echo: 'received',
    keepsReasoning: true,
    body: {
      messages: [{ role: 'user', content: [{ text: ask }] }],
      toolConfig: { tools: [{ toolSpec: { name: 'read', inputSchema: { json: schema } } }] },
    },
  },
]
