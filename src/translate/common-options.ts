import { noteKinds } from '../canonical/note.ts'
import { type Ungrouped, valueFault } from '../kit/fields/option-faults.ts'
import { isObject } from '../kit/json/json.ts'
import { sharedOptions } from '../protocol.ts'
import type { Resolvers } from './references.ts'
import type { Settings } from './settings.ts'

type Common = Omit<Settings, 'keepsResponse' | 'hideUsage' | 'tools'> & Resolvers

const kinds: readonly unknown[] = noteKinds
const isStrict = (value: unknown) =>
  typeof value === 'boolean' || (Array.isArray(value) && value.every(kind => kinds.includes(kind)))

/** The options of every translation that are in no group, with their values. */
export const commonOptions: Record<keyof Common, Ungrouped[string]> = {
  ...sharedOptions,
  foreignSignatures: ['drop', 'wrap'],
  strict: value =>
    isStrict(value) ? undefined : `expected true, false, or a list of ${kinds.join(', ')}`,
  context: value =>
    isObject(value) ? undefined : 'expected the context that translateRequest returned',
  bridge: value =>
    isObject(value) && typeof value['request'] === 'function'
      ? undefined
      : 'expected a bridge from createBridge',
  model: 'text',
  path: 'text',
  now: 'number',
  maxEventLength: 'number',
  newId: 'function',
  renewId: value => (typeof value === 'function' ? undefined : valueFault(value, 'flag')),
  onUnresolvable: ['throw', 'note'],
  truncated: ['error', 'length'],
  resolvePrevious: 'function',
  resolveConversation: 'function',
  resolveItem: 'function',
  resolvePrompt: 'function',
  resolveThread: 'function',
  resolveFile: 'function',
}
