import { keyNames } from '../gateway/admission/credential.ts'
import type { Gateway, GatewayRequest, GatewayResponse, Hooks } from '../gateway/gateway.ts'
import { Capture } from './capture.ts'
import type { Cassette } from './format.ts'
import { cassetteOf } from './write.ts'

/**
 * The cassette of one request to a gateway, which is closed then. Undefined: the client was not let
 * in. `create`: with these hooks.
 */
export async function recordedBy(
  create: (hooks: Pick<Hooks, 'tape'>) => Gateway,
  request: GatewayRequest,
): Promise<Cassette | undefined> {
  let capture: Capture | undefined
  let completed = () => {}
  const complete = new Promise<void>(resolve => {
    completed = resolve
  })
  const gateway = create({
    tape(call) {
      const own = new Capture(call, { take: () => true })
      capture = own
      return event => {
        own.take(event)
        if (own.isComplete()) completed()
      }
    },
  })
  await readAll(await gateway.handle(request))
  // The end of what an upstream sends is read in the background.
  const timer = setTimeout(completed, 250)
  await complete
  clearTimeout(timer)
  await gateway.close(0)
  return capture && cassetteOf(capture.captured, { media: false, keyNames })
}

async function readAll({ body }: GatewayResponse): Promise<void> {
  if (typeof body === 'string' || body instanceof Uint8Array) return
  try {
    for await (const _ of body);
  } catch {
    // It broke off, which the tape has seen.
  }
}
