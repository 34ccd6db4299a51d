import type { SentProtocol } from '../protocols.ts'
import type { Example } from '../translate/examples.ts'

export type { SeenExchange } from '../exchanges.ts'
export type { SentProtocol } from '../protocols.ts'
export type { Examined, ShownFrame, TargetResult } from '../translate/examine.ts'
export type { Example } from '../translate/examples.ts'

/** What `GET /console/api/session` gives. */
export type Session = {
  role: 'operator' | 'client'
  key?: string
  canManageKeys: boolean
  keepsRecords: boolean
  /** Exchanges are recorded, and the operator can save one. */
  keepsCassettes: boolean
  /** False: a client whose key has no name. */
  hasRecords: boolean
  isDemo: boolean
  protocols: SentProtocol[]
  examples: Example[]
}

export type Note = { kind: string; code: string; path: string; reason: string }

/**
 * A tab of the console. `show` is called whenever it is opened; what it returns is called when it
 * is left.
 */
export type Tab = {
  id: string
  title: string
  element: HTMLElement
  show?(query: URLSearchParams): undefined | (() => void)
}
