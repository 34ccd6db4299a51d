import type { CanonicalRequest } from '../canonical/request.ts'
import type { PlainToolChoice } from '../canonical/tool.ts'

export type PlainRequest = CanonicalRequest & { toolChoice?: PlainToolChoice }

/** Where no choice of tools holds arguments to their schemas, each function says so itself. */
export function withStrictTools(request: CanonicalRequest, report: { add(code: 'tool_choice.strict-tools', at: string, field: string): void }): PlainRequest {
  const { toolChoice: choice, ...others } = request
  if (choice?.mode !== 'validated') return request as PlainRequest
  report.add('tool_choice.strict-tools', '', 'toolChoice')
  const plain: PlainToolChoice = choice.tools
    ? { mode: 'allowed', require: false, tools: choice.tools.map(name => ({ kind: 'function', name })) }
    : { mode: 'auto' }
  const tools = others.tools?.map(tool => (tool.type === 'function' ? { ...tool, strict: true } : tool))
  return { ...others, ...(tools && { tools }), toolChoice: plain }
}
