import type { ControlPart } from '../../canonical/message.ts'
import type { StateSpec } from '../../canonical/request.ts'
import type { CodecOptions } from '../../protocol.ts'
import type { Report } from '../notes/report.ts'
import type { commonNotes } from '../notes/shared.ts'

/** Does the part stand for something that only its own provider can look up or do? */
export const isUnresolvable = ({ control }: ControlPart): boolean =>
  control === 'item-reference' || control === 'compaction' || control === 'compaction-trigger'

/**
 * Features that need no note: they are present without being requested, or have notes of their own.
 */
const given = new Set(['reasoning.encrypted_content', 'message.output_text.logprobs'])

/**
 * Notes the `state` of a request on a wire that has none of these fields.
 * @throws TranslationError `inexpressible` for references to stored data, unless `onUnresolvable`
 * is `note`
 */
export function leaveState(
  state: StateSpec,
  options: CodecOptions,
  report: Pick<Report<typeof commonNotes>, 'add' | 'rest' | 'unresolvable'>,
): void {
  const {
    previousId,
    conversation,
    prompt,
    thread,
    compaction,
    continuationToken,
    background,
    include,
    truncation,
    ...rest
  } = state
  const references = {
    previousId,
    conversation,
    prompt,
    thread,
    compaction,
    continuationToken,
    background: background || undefined,
  }
  let field: keyof typeof references
  for (field in references)
    if (references[field] != null) report.unresolvable(undefined, `state.${field}`, options)
  report.rest(rest, undefined, 'state.')
  if (truncation !== undefined && truncation !== 'disabled')
    report.add('field.unsupported', undefined, 'state.truncation')
  include?.forEach((feature, index) => {
    if (!given.has(feature)) report.add('field.unsupported', undefined, `state.include.${index}`)
  })
}
