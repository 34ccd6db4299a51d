import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, quoted } from './client.ts'

const chat: AddressUsage = { protocol: 'chat-completions', appends: 'endpoint' }
const responses: AddressUsage = { protocol: 'responses', appends: 'endpoint' }
const messages: AddressUsage = { protocol: 'messages', appends: 'version-and-endpoint' }

export const langchain: Client = {
  title: 'LangChain',
  usages: [chat, responses, messages],
  remarks: [
    'In JavaScript it forgets reasoning over chat-completions: where a server wants it beside calls (DeepSeek, Kimi), use messages or responses, or the option chatCompletions.missingReasoning: blank at its channel.',
  ],
  // Over responses with `zdrEnabled` it sends back reasoning only if it is signed, and only its
  // summary.
  needs: [
    {
      agents: ['langchainjs-openai/'],
      options: {
        chatCompletions: { unsignedReasoning: 'seal' },
        responses: { rawReasoning: 'summary' },
      },
    },
  ],
  snippets({ model, keyEnv, addressFor }) {
    const ask = ["const response = await model.invoke('Hello there')", 'console.log(response.text)']
    const openai = (more: string, address: string) =>
      lines(
        "import { ChatOpenAI } from '@langchain/openai'",
        '',
        `const model = new ChatOpenAI({ model: ${quoted(model)}, ${more}apiKey: process.env.${keyEnv}, configuration: { baseURL: ${quoted(address)} } })`,
        ...ask,
      )
    const anthropic = lines(
      "import { ChatAnthropic } from '@langchain/anthropic'",
      '',
      `const model = new ChatAnthropic({ model: ${quoted(model)}, apiKey: process.env.${keyEnv}, anthropicApiUrl: ${quoted(addressFor(messages))} })`,
      ...ask,
    )
    const python = (module: string, name: string, address: string) =>
      lines(
        'import os',
        `from ${module} import ${name}`,
        '',
        `model = ${name}(model=${quoted(model)}, api_key=os.environ[${quoted(keyEnv)}], base_url=${quoted(address)})`,
        'print(model.invoke("Hello there").content)',
      )
    return [
      {
        ...chat,
        title: 'JavaScript, chat completions',
        address: addressFor(chat),
        language: 'js',
        text: openai('', addressFor(chat)),
      },
      {
        ...responses,
        title: 'JavaScript, responses',
        address: addressFor(responses),
        language: 'js',
        text: openai('useResponsesApi: true, ', addressFor(responses)),
      },
      {
        ...messages,
        title: 'JavaScript, messages',
        address: addressFor(messages),
        language: 'js',
        text: anthropic,
      },
      {
        ...chat,
        title: 'Python, chat completions',
        address: addressFor(chat),
        language: 'python',
        text: python('langchain_openai', 'ChatOpenAI', addressFor(chat)),
      },
      {
        ...messages,
        title: 'Python, messages',
        address: addressFor(messages),
        language: 'python',
        text: python('langchain_anthropic', 'ChatAnthropic', addressFor(messages)),
      },
    ]
  },
}
