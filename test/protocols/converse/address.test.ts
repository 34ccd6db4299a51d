import { describe, expect, test } from 'vitest'
import { converse } from '../../../src/protocols/converse/index.ts'

const { address, detect } = converse
const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/mi1dadi0g15f'

describe('the path has the model and the operation', () => {
  test.each<[path: string, wanted: object | undefined]>([
    ['/model/m/converse', { operation: 'generate', model: 'm', stream: false }],
    ['/model/m/converse-stream', { operation: 'generate', model: 'm', stream: true }],
    ['/model/m/count-tokens', { operation: 'count-tokens', model: 'm' }],
    [
      '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
      {
        operation: 'generate',
        model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
        stream: false,
      },
    ],
    [
      `/model/${encodeURIComponent(arn)}/converse`,
      { operation: 'generate', model: arn, stream: false },
    ],
    // Some clients do not escape the model.
    [`/model/${arn}/converse-stream`, { operation: 'generate', model: arn, stream: true }],
    ['/model/a/converse/converse', { operation: 'generate', model: 'a/converse', stream: false }],
    ['/model/m/converse?x=1', { operation: 'generate', model: 'm', stream: false }],
    ['/model/m/invoke', undefined],
    ['/model//converse', undefined],
    ['/model/converse', undefined],
    ['/v1/messages', undefined],
  ])('%s', (path, wanted) => {
    expect(address.match(path)).toEqual(wanted)
  })

  test.each(['m', 'amazon.nova-lite-v1:0', arn, 'odd name?', '..'])(
    'a call of %s goes to a path that says so',
    model => {
      for (const stream of [false, true]) {
        const path = String(address.target({ operation: 'generate', model, stream }))
        expect(path.split('/')).toHaveLength(4)
        expect(address.match(path)).toEqual({ operation: 'generate', model, stream })
      }
    },
  )

  test('counts tokens with the model id without a region', () => {
    const target = (model: string) =>
      address.target({ operation: 'count-tokens', model, stream: false })
    expect(target('us.anthropic.claude-sonnet-4-5-20250929-v1:0')).toBe(
      '/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens',
    )
    expect(target(arn)).toBe(`/model/${encodeURIComponent(arn)}/count-tokens`)
  })

  test('has no compact operation', () => {
    expect(address.target({ operation: 'compact', model: 'm', stream: false })).toBeUndefined()
  })
})

test('sends the key as a bearer token', () => {
  expect(address.upstreamHeaders('k', undefined)).toEqual({ authorization: 'Bearer k' })
  expect(address.upstreamHeaders(undefined, undefined)).toEqual({})
})

test('lists models and inference profiles', () => {
  const body = {
    modelSummaries: [{ modelId: 'a' }, { modelId: 5 }],
    inferenceProfileSummaries: [{ inferenceProfileId: 'us.a' }],
  }
  expect(address.listed?.(body)).toEqual(['a', 'us.a'])
  expect(address.listed?.('nothing')).toEqual([])
})

test('sends no settings when counting tokens', () => {
  const request = { messages: [], system: [{ text: 's' }], inferenceConfig: { maxTokens: 5 } }
  expect(address.counting?.ask(request as never, 'm' as never)).toEqual({
    input: { converse: { messages: [], system: [{ text: 's' }] } },
  })
})

describe('signs of the protocol', () => {
  const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
  test.each<[what: string, body: object, has: boolean]>([
    ['settings', { ...user({ text: 'a' }), inferenceConfig: {} }, true],
    ['blocks without a type', user({ text: 'a' }), true],
    ['a block whose kind is its key', user({ toolResult: { toolUseId: 't', content: [] } }), true],
    ['typed blocks', user({ type: 'text', text: 'a' }), false],
    ['text content', { messages: [{ role: 'user', content: 'a' }] }, false],
  ])('%s', (_, body, has) => {
    expect(detect(body).request.length > 0).toBe(has)
  })

  test('uses the event name as key', () => {
    expect(
      detect({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'a' } } }).event,
    ).toHaveLength(1)
    expect(detect({ type: 'message_start', metadata: {} }).event).toEqual([])
  })
})
