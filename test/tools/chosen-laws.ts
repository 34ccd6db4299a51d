import { beforeEach } from 'vitest'

/**
 * Runs only a share of the properties when `WIREGLOT_LAW_SHARE` names it: `npm run laws -- --share
 * 1/8`.
 */
beforeEach(({ task, skip }) => {
  const [mine, all] = (process.env['WIREGLOT_LAW_SHARE'] ?? '').split('/').map(Number)
  if (!mine || !all || !/laws\/[^/]+$/.test(task.file.name)) return
  const name = `${task.file.name} ${task.suite?.name} ${task.name}`
  let sum = 0
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003
  if (sum % all !== mine % all) skip('of another share')
})
