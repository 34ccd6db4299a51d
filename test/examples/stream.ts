import { createStreamTranslator } from 'wireglot'

/** Relays a messages stream to a chat client. */
export async function relay(
  upstream: AsyncIterable<Uint8Array>,
  write: (text: string) => void,
): Promise<void> {
  const translator = createStreamTranslator({ from: 'messages', to: 'chat-completions' })
  for await (const chunk of upstream) write(translator.push(chunk))
  write(translator.end())
  if (!translator.finished) console.error('the upstream stopped early; the client got an error')
}
