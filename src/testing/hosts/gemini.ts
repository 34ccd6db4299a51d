import { type Host, objectAtRoot } from './host.ts'
import { named } from './schema-rules.ts'

export const gemini: Host = {
  protocols: ['generate-content'],
  // https://docs.cloud.google.com/gemini-enterprise-agent-platform/reference/mcp/tools_list/evaluate_instances
  // (2026-11-30)
  name: () => /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
  most: 512,
  rules: () => [
    // https://github.com/diegosouzapw/OmniRoute/pull/3360 (2026-06-07)
    objectAtRoot,
    // https://github.com/anomalyco/opencode/issues/12295 (2026-02-05) and
    // https://github.com/google-gemini/gemini-cli/issues/13326 (2025-11-18)
    ({ schema, at, root }, faults) => {
      const { $ref } = schema
      if (typeof $ref !== 'string') return
      if (!/^#\/\$defs\/[^/]+$/.test($ref) || named(root, $ref) === undefined)
        faults.push(`${at}/$ref: reference to undefined schema`)
      for (const key of Object.keys(schema))
        if (!key.startsWith('$') && key !== 'description' && key !== 'default')
          faults.push(`${at}/${key}: set alongside $ref`)
    },
  ],
}
