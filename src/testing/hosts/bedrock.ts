import { rules, strictRules } from './anthropic.ts'
import { type Host, isStrict, objectAtRoot, upTo } from './host.ts'
import { atRoot, newestDraft, refuses } from './schema-rules.ts'

export const bedrock: Host = {
  protocols: ['converse'],
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
  name: () => upTo(64),
  rules: (declared, model) => [
    newestDraft,
    objectAtRoot,
    ...(/anthropic|claude/.test(model) ? rules : []),
    ...(/anthropic|claude/.test(model) && isStrict(declared) ? strictRules : []),
    // https://docs.aws.amazon.com/nova/latest/userguide/prompting-tool-troubleshooting.html and
    // https://github.com/pydantic/pydantic-ai/issues/1623
    ...(/nova-(?!\d)/.test(model)
      ? [atRoot(refuses(key => !['type', 'properties', 'required'].includes(key)))]
      : []),
  ],
  // https://github.com/vercel/ai/pull/10260, https://github.com/anomalyco/opencode/pull/48582
  more: (all, faults) => {
    for (const { at, description } of all)
      if (description !== undefined && !String(description).trim())
        faults.push(`${at}/description: shorter than 1`)
  },
}
