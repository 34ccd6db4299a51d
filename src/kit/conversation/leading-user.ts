import type { Place } from '../../canonical/message.ts'

/**
 * Does the conversation, as it is written, lack the user message that servers want in front? Then
 * that is noted. `first`: who speaks first, undefined in a conversation of instructions alone,
 * which `instructs` says. `at`: path of the first message in the target.
 */
export function lacksUser(
  { first, instructs, at }: { first: string | undefined; instructs: boolean; at: Place },
  leadingUser: 'auto' | 'keep' | 'synthesize',
  report: { add(code: 'message.leading-user', at: Place): void },
): boolean {
  const lacks =
    first === undefined
      ? instructs && leadingUser === 'synthesize'
      : first !== 'user' && leadingUser !== 'keep'
  if (lacks) report.add('message.leading-user', at)
  return lacks
}
