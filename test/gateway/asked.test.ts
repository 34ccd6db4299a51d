import { expect, test } from 'vitest'
import { hasTools } from '../../src/gateway/asked.ts'

test.each([
  ['chat-completions', { tools: [{}] }, true],
  ['chat-completions, older', { functions: [{}] }, true],
  ['responses, a long list', { tools: [null] }, true],
  ['generate-content', { tools: [{ functionDeclarations: [] }] }, true],
  ['converse', { toolConfig: { tools: [{}] } }, true],
  ['converse, a long object', { toolConfig: {} }, true],
  ['an empty list', { tools: [] }, false],
  ['none', { messages: [] }, false],
  ['no object', [], false],
])('a request offers tools: %s', (_, outline, has) => expect(hasTools(outline)).toBe(has))
