import type { ChannelEntry } from '../options.ts'
import { isPlain } from './plain-path.ts'

/** The entry of a channel's `passThrough` that lists this path. Undefined: none does. */
export type PassPaths = (path: string) => string | undefined

/** Paths that some channel lists. The gateway claims no others. */
export function createPassPaths(channels: readonly Pick<ChannelEntry, 'passThrough'>[]): PassPaths {
  const entries = [...new Set(channels.flatMap(({ passThrough }) => passThrough))]
  return path => (isPlain(path) ? entries.find(entry => isListed(entry, path)) : undefined)
}

/** Does the channel list this path? */
export const passes = ({ passThrough }: Pick<ChannelEntry, 'passThrough'>, path: string): boolean =>
  passThrough.some(entry => isListed(entry, path))

const isListed = (entry: string, path: string) =>
  entry.endsWith('*') ? path.startsWith(entry.slice(0, -1)) : path === entry
