import type { ToolCallPart } from '../../canonical/message.ts'
import { mapCallId } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { unusual } from './assistant.ts'
import { validCallId } from './calls.ts'
import { formOf, own } from './own.ts'
import { encodeCallSignature, encodeDetails, needsDetails } from './reasoning.ts'
import { type Choice, reportOf, type State } from './stream-state.ts'

/** `extra_content` of a call, which holds its signature. */
export function encodeExtra(state: State, { signature, ext, at }: ToolCallPart): JsonObject | undefined {
  const { extra } = formOf(ext)
  if (isObject(extra)) return extra
  if (signature && state.settings.ccSignature !== 'none') return encodeCallSignature(signature)
  reportOf(state).add('reasoning.signature-dropped', at, 'signature')
  return undefined
}

/** What plain text could not carry of the reasoning, for the end of the stream: signatures, segments, the order of the parts. */
export function encodeReasoningDetails(state: State, choice: Choice): JsonObject[] {
  const { ccReasoning, ccSignature } = state.settings
  const report = reportOf(state)
  const outs = [...choice.parts.values()]
  const reasoning = outs.flatMap(out => (out.kind === 'reasoning' ? [out.part] : []))
  const parts = reasoning.filter(({ segments, signature, id }) => segments.length > 0 || signature || id !== undefined)
  if (ccSignature === 'none') {
    for (const { signature, at } of parts) if (signature) report.add('reasoning.signature-dropped', at, 'signature')
    if (ccReasoning !== 'details') return []
  }
  const wanted = ccReasoning === 'details' ? parts.length > 0 : needsDetails(parts)
  let count = 0
  const layout = unusual(
    outs.flatMap(out => {
      if (out.kind === 'reasoning') return [`r${count++}`]
      if (out.kind === 'text') return out.text ? [`x${out.text.length}`] : []
      return out.kind === 'call' ? [`c${own(out.head.ext) ? out.head.id : mapCallId(out.head.id, validCallId)}`] : []
    }),
  )
  if (!wanted && !choice.textSignature) {
    if (layout) report.add('parts.order-lost', '')
    return []
  }
  const bare = ccSignature === 'none' ? parts.map(({ signature: _, ...rest }) => rest) : parts
  return encodeDetails({ parts: bare, textSignature: ccSignature === 'none' ? undefined : choice.textSignature, layout })
}
