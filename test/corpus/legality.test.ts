import { describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  translateError,
  translateRequest,
  translateResponse,
} from '../../src/api.ts'
import { TranslationError } from '../../src/errors.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { translateCounted } from '../../src/translate/response.ts'
import { corpusFiles, recordedStreams, shared, skipReason } from './data.ts'
import { type Exceptions, tally } from './tally.ts'

const noMessage =
  'it holds nothing but instructions, and the target requires a message, which is not invented'
const emptyMessage = 'its only message is empty, so no message is left to send'

const images = 'it requests images, which some servers of the target generate'

const requestExceptions: Exceptions = {
  'generate-content/requests/lingua__gemini.imageConfigParam.followup.json → chat-completions':
    images,
  'generate-content/requests/lingua__gemini.imageConfigParam.json → chat-completions': images,
  'generate-content/requests/pydantic-ai__vertex.test_google.test_google_vertexai_image_generation.json → chat-completions':
    images,
  'generate-content/requests/pydantic-ai__vertex.test_google.test_google_vertexai_image_generation_with_output_format.json → chat-completions':
    images,
  'chat/requests/lingua__openai.chatCompletionsGcsBackedVideoFileParam.json → generate-content':
    'the data of its file is an address, which is no base64',
  'generate-content/requests/pydantic-ai__gemini.test_google.test_google_model_empty_user_prompt.json → chat-completions':
    emptyMessage,
  'generate-content/requests/pydantic-ai__gemini.test_google.test_google_model_empty_user_prompt.json → responses':
    emptyMessage,
  'generate-content/requests/pydantic-ai__gemini.test_google.test_google_model_empty_user_prompt.json → messages':
    emptyMessage,
  'generate-content/requests/pydantic-ai__gemini.test_google.test_google_model_empty_user_prompt.json → converse':
    emptyMessage,
  'chat/requests/pydantic-ai__openai.test_openai.test_openai_model_without_system_prompt.json → messages':
    noMessage,
  'chat/requests/envoy-ai-gateway__openai.chat-detailed-usage.json → messages': noMessage,
  'chat/requests/envoy-ai-gateway__openai.chat-streaming-detailed-usage.json → messages': noMessage,
  'chat/requests/pydantic-ai__openai.test_openai.test_openai_model_without_system_prompt.json → converse':
    noMessage,
  'chat/requests/envoy-ai-gateway__openai.chat-detailed-usage.json → converse': noMessage,
  'chat/requests/envoy-ai-gateway__openai.chat-streaming-detailed-usage.json → converse': noMessage,
  'chat/requests/pydantic-ai__openai.test_openai.test_openai_model_without_system_prompt.json → generate-content':
    noMessage,
  'chat/requests/envoy-ai-gateway__openai.chat-detailed-usage.json → generate-content': noMessage,
  'chat/requests/envoy-ai-gateway__openai.chat-streaming-detailed-usage.json → generate-content':
    noMessage,
}
const responseExceptions: Exceptions = {}

const pairs = protocolNames.flatMap(from =>
  protocolNames.filter(to => to !== from).map(to => ({ from, to })),
)

const named = (files: { file: string; text: string; path?: string }[], to: string) =>
  files.map(({ file, ...rest }) => ({ name: `${file} → ${to}`, ...rest }))

const refused = Symbol('refused with a reason')
function attempt<T>(act: () => T): T | typeof refused {
  try {
    return act()
  } catch (error) {
    if (TranslationError.is(error) && error.code !== 'malformed') return refused
    throw error
  }
}

describe.skipIf(!shared).each(pairs)(
  `captured $from traffic in $to (${skipReason})`,
  ({ from, to }) => {
    const strict = strictOf(to)

    test('requests that are legal to the letter stay legal', async () => {
      const files = corpusFiles(from, 'requests').filter(
        ({ text }) => strictOf(from).checkRequest(JSON.parse(text)).length === 0,
      )
      await tally(
        `legal requests ${from} → ${to}`,
        named(files, to),
        requestExceptions,
        ({ text, path }) => {
          const translated = attempt(() =>
            translateRequest(JSON.parse(text), { from, to, ...(path !== undefined && { path }) }),
          )
          if (translated !== refused) expect(strict.checkRequest(translated.body)).toEqual([])
        },
      )
    })

    test('responses are legal', async () => {
      await tally(
        `legal responses ${from} → ${to}`,
        named(corpusFiles(from, 'responses'), to),
        responseExceptions,
        ({ text }) => {
          const body: unknown = JSON.parse(text)
          const translated = attempt(() => translateResponse(body, { from, to }))
          if (translated === refused) return
          const failed =
            translateCounted(body, protocols[from], protocols[to], {}).error !== undefined
          // Some protocols have a form for a failed response, others only an error.
          const isError = failed && strict.checkError(translated.body).length === 0
          expect(isError ? [] : strict.checkResponse(translated.body)).toEqual([])
        },
      )
    })

    test('streams are legal, and end well only where the source did', async () => {
      const files = [...corpusFiles(from, 'streams'), ...recordedStreams(from)]
      await tally(
        `legal streams ${from} → ${to}`,
        named(files, to),
        responseExceptions,
        ({ text }) => {
          const translator = createStreamTranslator({ from, to })
          const wires = framesOf(translator.push(text) + translator.end()).map(({ wire }) => wire)
          expect(strict.checkStream(wires)).toEqual([])
          expect(strict.outcome(wires)).toBe(
            translator.finished && !translator.failedEnd ? 'success' : 'failed',
          )
        },
      )
    })

    test('error bodies are legal', async () => {
      await tally(
        `legal errors ${from} → ${to}`,
        named(corpusFiles(from, 'errors'), to),
        {},
        ({ text }) => {
          const { body, status } = translateError({ status: 400, body: parse(text) }, { from, to })
          expect(strict.checkError(body)).toEqual([])
          expect(status).toBeGreaterThanOrEqual(400)
        },
      )
    })
  },
)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
