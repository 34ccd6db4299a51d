import { checkStrictCount, rules, strictRules } from './anthropic.ts'
import { type Host, isStrict, objectAtRoot, upTo } from './host.ts'
import { atRoot, newestDraft, refuses } from './schema-rules.ts'

export const bedrock: Host = {
  protocols: ['converse'],
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
  // (2026-11-30)
  name: () => upTo(64),
  rules: (declared, model) => [
    newestDraft,
    objectAtRoot,
    ...(/anthropic|claude/.test(model) ? rules : []),
    ...(/anthropic|claude/.test(model) && isStrict(declared) ? strictRules : []),
    // https://docs.aws.amazon.com/nova/latest/userguide/prompting-tool-troubleshooting.html
    // (2026-11-30), https://github.com/pydantic/pydantic-ai/issues/1623 (2026-11-30)
    ...(/nova-(?!\d)/.test(model)
      ? [atRoot(refuses(key => !['type', 'properties', 'required'].includes(key)))]
      : []),
  ],
  // https://github.com/vercel/ai/pull/10260 (2025-11-15),
  // https://github.com/anomalyco/opencode/pull/48582 (2026-09-12)
  more: (all, faults, model) => {
    if (/anthropic|claude/.test(model)) checkStrictCount(all, faults)
    for (const { at, description } of all)
      if (description !== undefined && !String(description).trim())
        faults.push(`${at}/description: shorter than 1`)
  },
}
