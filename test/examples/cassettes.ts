// Tests of an agent without a key and a network: one recorded exchange answers the SDKs of two
// protocols, whole and streamed.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { cassetteFetch } from 'wireglot/testing'

const cassettes = 'test/examples/cassettes' // What `wireglot serve --record` has written.

test('an agent with the OpenAI SDK says hello', async () => {
  const fetch = cassetteFetch(cassettes)
  const client = new OpenAI({ apiKey: 'unused', fetch })
  const { choices } = await client.chat.completions.create({
    model: 'gpt-5.2',
    messages: [
      { role: 'system', content: 'You are brief.' },
      { role: 'user', content: 'Say hello' },
    ],
  })
  expect(choices[0]?.message.content).toContain('Say hello')
  expect(await fetch.unused()).toEqual([])
})

test('the same agent with the Anthropic SDK, as a stream', async () => {
  const client = new Anthropic({ apiKey: 'unused', fetch: cassetteFetch(cassettes) })
  const stream = client.messages.stream({
    model: 'claude-sonnet-5',
    max_tokens: 1000,
    system: 'You are brief.',
    messages: [{ role: 'user', content: 'Say hello' }],
  })
  expect(await stream.finalText()).toContain('Say hello')
})

test('another question is not answered', async () => {
  const client = new Anthropic({ apiKey: 'unused', fetch: cassetteFetch(cassettes) })
  const asked = client.messages.create({
    model: 'claude-sonnet-5',
    max_tokens: 1000,
    system: 'You are brief.',
    messages: [{ role: 'user', content: 'Say goodbye' }],
  })
  await expect(asked).rejects.toThrow(/recorded \\"Say hello\\", asked \\"Say goodbye\\"/)
})
