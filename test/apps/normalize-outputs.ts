// Outputs of several providers, complete and streamed, in one shape.
import assert from 'node:assert/strict'
import {
  detectProtocol,
  normalizeResponse,
  readStream,
  TranslationError,
  textOf,
  toolCallsOf,
  usageOf,
} from 'wireglot'

const stored = [
  '{"id":"msg_1","type":"message","role":"assistant","model":"a","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"toolu_1","name":"add","input":{"a":1}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":8,"output_tokens":3}}',
  '{"responseId":"r","modelVersion":"g","candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":3,"totalTokenCount":11}}',
  '{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"o","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":8,"completion_tokens":3,"total_tokens":11}}',
]

async function main(): Promise<void> {
  for (const line of stored) {
    const body: unknown = JSON.parse(line)
    const { protocol } = detectProtocol(body)
    assert.ok(protocol)
    const response = normalizeResponse(body, { protocol })
    assert.equal(textOf(response), 'Hi')
    assert.equal(usageOf(response)?.input, 8)
    for (const { name, input } of toolCallsOf(response))
      assert.deepEqual([name, input], ['add', { a: 1 }])
  }

  const sse =
    'data: {"responseId":"r","candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n'
  const stream = readStream(new Response(sse).body, { protocol: 'generate-content' })
  const types: string[] = []
  for await (const event of stream) types.push(event.type)
  assert.equal(types[0], 'start')
  assert.equal(textOf(await stream.complete()), 'Hi')

  const wrong: unknown = { content: 5 }
  try {
    normalizeResponse(wrong, { protocol: 'messages' })
    assert.fail('expected an error')
  } catch (error) {
    assert.ok(TranslationError.is(error))
    assert.deepEqual([error.code, error.path], ['malformed', '/content'])
  }
  console.log('normalize: ok')
}

void main()
