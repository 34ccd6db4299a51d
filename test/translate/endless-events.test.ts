import { expect, test } from 'vitest'
import { collectStream, createStreamTranslator } from '../../src/index.ts'

const begun =
  'data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\ndata: {"id":"'
const chunk = 'x'.repeat(1024 * 1024)

test('fails the stream when an event exceeds the limit', async () => {
  const translator = createStreamTranslator({ from: 'chat-completions', to: 'messages' })
  let text = translator.push(begun)
  for (let i = 0; i < 70; i++) text += translator.push(chunk)
  text += translator.end()
  expect(translator.finished).toBe(false)
  expect(await collectStream([text], { protocol: 'messages' })).toMatchObject({
    body: { type: 'error', error: { message: 'an event of the upstream stream is too long' } },
  })
})
