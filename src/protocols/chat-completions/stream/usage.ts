import { isObject } from '../../../kit/json/json.ts'
import type { StreamUsage } from '../../../protocol.ts'

/** Usage comes in a last chunk without choices, if the request asks for it. */
export const streamUsage: StreamUsage = {
  isRequested: wire =>
    isObject(wire) &&
    isObject(wire['stream_options']) &&
    wire['stream_options']['include_usage'] === true,
  ask(wire) {
    if (!isObject(wire)) return { wire }
    const { stream_options: streamOptions } = wire
    const options = {
      stream_options: { ...(isObject(streamOptions) && streamOptions), include_usage: true },
    }
    return {
      wire: { ...wire, ...options },
      ...(!Object.hasOwn(wire, 'stream_options') && { added: options }),
    }
  },
  isOnlyCounts: event =>
    isObject(event) &&
    isObject(event['usage']) &&
    Array.isArray(event['choices']) &&
    event['choices'].length === 0,
}
