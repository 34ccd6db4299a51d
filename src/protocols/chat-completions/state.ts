import type { CanonicalRequest, StateSpec } from '../../canonical/request.ts'
import { TranslationError } from '../../errors.ts'
import type { Writing } from './content.ts'
import { protocolName } from './own.ts'

/** Entries of `include` that other fields say here, or that ask for what this protocol always gives. */
const consumed = new Set(['message.output_text.logprobs', 'reasoning.encrypted_content'])

/**
 * What refers to the memory of a provider.
 * @throws TranslationError `inexpressible` for what only that provider can resolve, unless a note is asked for
 */
export function refuseState({ state, cache }: CanonicalRequest, { report, options }: Writing): void {
  if (!state && cache?.contentRef === undefined) return
  const { store: _, previousId, conversation, background, prompt, include, truncation, thread, continuationToken, ...rest }: StateSpec = state ?? {}
  const bearing = {
    'state.previousId': previousId,
    'state.conversation': conversation,
    'state.prompt': prompt,
    'state.thread': thread,
    'state.continuationToken': continuationToken,
    'state.background': background || undefined,
    'cache.contentRef': cache?.contentRef,
  }
  let field: keyof typeof bearing
  for (field in bearing) {
    const told = bearing[field]
    if (told === undefined || told === null) continue
    if (options.onUnresolvable !== 'note') {
      const path = `/${options.fieldNames?.[field] ?? field.replaceAll('.', '/')}`
      throw new TranslationError({ code: 'inexpressible', protocol: protocolName, path }, 'only the provider of the source protocol can resolve this')
    }
    report.add('state.unresolvable', '', field)
  }
  include?.forEach((entry, index) => {
    if (!consumed.has(entry)) report.add('field.unsupported', '', `state.include.${index}`)
  })
  if (truncation !== undefined && truncation !== 'disabled') report.add('field.unsupported', '', 'state.truncation')
  report.rest(rest, '', 'state.')
}
