import type { Check } from '../../verify/check.ts'
import { chip, table, wrapped } from './dom.ts'

const tones = { passed: 'well', warned: 'approximated', failed: 'dropped', skipped: '' }

/** What a check of a channel has found. */
export const checkTable = (channel: string, checks: readonly Check[]): HTMLElement =>
  table(
    `Check of ${channel}`,
    ['Check', 'Scope', 'Result', 'What was found', 'What to do', 'ms'],
    checks.map(({ name, scope, result, detail, fix, ms }) => [
      name,
      scope,
      chip(tones[result], result),
      wrapped(detail),
      wrapped(fix ?? ''),
      ms,
    ]),
  )
