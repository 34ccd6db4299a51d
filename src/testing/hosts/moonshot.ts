import { isObject } from '../strict/faults.ts'
import { type Host, objectAtRoot } from './host.ts'
import { named, newestDraft, type SchemaRule } from './schema-rules.ts'

/**
 * MFJS. Sources: https://github.com/MoonshotAI/kimi-cli/issues/1595 (types, `anyOf`, 2026-03-26),
 * https://github.com/CommandCodeAI/command-code/issues/594 (where references start, 2026-07-27),
 * https://github.com/MoonshotAI/kimi-cli/issues/2061 (next to references, 2026-04-24)
 */
const rules: readonly SchemaRule[] = [
  newestDraft,
  objectAtRoot,
  ({ schema, at, root }, faults) => {
    const { $ref } = schema
    const hasUnion = Array.isArray(schema['anyOf'])
    if (hasUnion && 'type' in schema) faults.push(`${at}: type belongs into the items of anyOf`)
    if (typeof $ref === 'string') {
      if (!$ref.startsWith('#/$defs/')) faults.push(`${at}/$ref: must start with #/$defs/`)
      if (!isObject(named(root, $ref))) faults.push(`${at}/$ref: names nothing`)
      const next = Object.keys(schema).find(key => key === 'type' || key === 'description')
      if (next) faults.push(`${at}/${next}: conflicts with $ref`)
    } else if (!hasUnion && !('type' in schema) && !('enum' in schema) && !('const' in schema))
      faults.push(`${at}: type is not defined`)
  },
]

export const moonshot: Host = {
  protocols: ['chat-completions'],
  // https://github.com/MoonshotAI/kimi-cli/issues/2531 (2026-07-22): a digit in front is refused
  // and https://platform.kimi.ai/docs/api/tool-use (2026-11-30): three letters at least
  name: () => /^[a-zA-Z_][a-zA-Z0-9_-]{2,63}$/,
  // https://platform.kimi.ai/docs/api/tool-use (2026-11-30)
  most: 128,
  rules: () => rules,
}
