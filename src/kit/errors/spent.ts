import type { ErrorKind } from '../../canonical/error.ts'

/**
 * How servers say that a balance, a plan or a budget is used up, where no code says so. Not "you
 * exceeded your current quota", which some say of a minute.
 */
const spent = [
  /insufficient (account )?(balance|credits?|funds)|(not enough|run out of|out of|used all( available)?) credits?/i,
  /(credit balance|account balance|credits? remaining|balance) is (too low|insufficient|not enough)/i,
  /(credits?|balance|quota) (is|are|has been|have been) (depleted|exhausted|used up)/i,
  /(usage|spending|spend) limits? (has been |was )?(reached|exceeded)|reached (your|its|the) ([a-z]{1,20} ){0,3}(usage|spending|spend) limits?/i,
]

/** Kinds with whose words servers report it. */
const vague: ReadonlySet<ErrorKind> = new Set(['invalid_request', 'rate_limit', 'permission'])

/** The kind of an error whose message may say more than its words and its status. */
export const orSpent = (kind: ErrorKind, message: string): ErrorKind =>
  vague.has(kind) && spent.some(words => words.test(message)) ? 'quota' : kind

/** Has the account no money or no budget left? No retry helps before somebody pays or time passes. */
export const isSpent = (kind: ErrorKind): boolean => kind === 'quota' || kind === 'billing'
