import type { StateSpec } from '../canonical/request.ts'
import type { CodecOptions } from '../protocol.ts'
import type { commonNotes, Report } from './report.ts'

/** Features that are given without being asked, or that are noted by their own fields. */
const given = new Set(['reasoning.encrypted_content', 'message.output_text.logprobs'])

/**
 * What a request says of the provider's memory, on a wire that knows none of this.
 * @throws TranslationError `inexpressible` for what refers to it, unless a note is asked for
 */
export function leaveState(state: StateSpec, options: CodecOptions, report: Pick<Report<typeof commonNotes>, 'add' | 'rest' | 'unresolvable'>): void {
  const { previousId, conversation, prompt, thread, continuationToken, background, include, truncation, ...rest } = state
  const references = { previousId, conversation, prompt, thread, continuationToken, background: background || undefined }
  let field: keyof typeof references
  for (field in references) if (references[field] != null) report.unresolvable(undefined, `state.${field}`, options)
  report.rest(rest, undefined, 'state.')
  if (truncation !== undefined && truncation !== 'disabled') report.add('field.unsupported', undefined, 'state.truncation')
  include?.forEach((feature, index) => {
    if (!given.has(feature)) report.add('field.unsupported', undefined, `state.include.${index}`)
  })
}
