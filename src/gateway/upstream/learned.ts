import type { CanonicalError } from '../../canonical/error.ts'
import type { Candidate } from './catalog.ts'

/** Fields of requests that upstreams refused, by channel, protocol and model. Each is left out of further requests for a while. */
export type Learned = {
  /** The fields to leave out, as the protocol of the candidate names them. */
  of(candidate: Candidate): string[]
  /** Remembers a field. False: it is known already, or the channel does not learn. */
  learn(candidate: Candidate, field: string): boolean
  /** Everything that is remembered. `entry`: the id of the model in the configuration. */
  all(): LearnedFields[]
}

/** Fields that are left out of requests for a model. */
export type LearnedFields = { entry: string; model: string; fields: string[] }

/** How long a field is left out. A server may accept it after an update. */
const rememberedMs = 60 * 60 * 1000

/** Fields for each channel and model; a request has not many more. */
const mostFields = 32

/** Channels and models. A client may invent models. */
const mostModels = 1000

export function createLearned(): Learned {
  const known = new Map<string, Map<string, number>>()
  const names = new Map<string, Pick<LearnedFields, 'entry' | 'model'>>()
  const keyOf = ({ channel, protocol, model }: Candidate) =>
    JSON.stringify([channel.name, protocol.name, model])
  return {
    of(candidate) {
      // Most gateways never learn anything.
      const fields = known.size === 0 ? undefined : known.get(keyOf(candidate))
      if (!fields) return []
      const now = Date.now()
      return [...fields].flatMap(([field, until]) => (until > now ? [field] : []))
    },
    learn(candidate, field) {
      if (!candidate.channel.learnUnsupported) return false
      const key = keyOf(candidate)
      const fields = known.get(key) ?? new Map<string, number>()
      if (
        (fields.get(field) ?? 0) > Date.now() ||
        fields.size >= mostFields ||
        known.size >= mostModels
      )
        return false
      known.set(key, fields.set(field, Date.now() + rememberedMs))
      names.set(key, { entry: candidate.entry.id, model: candidate.model })
      return true
    },
    all() {
      const now = Date.now()
      return [...names].flatMap(([key, name]) => {
        const fields = [...(known.get(key) ?? [])].flatMap(([field, until]) =>
          until > now ? [field] : [],
        )
        return fields.length > 0 ? [{ ...name, fields }] : []
      })
    },
  }
}

/** Without them a request makes no sense, loses its conversation, or gets a response in another format. */
const essential = new RegExp(
  `^(${[
    'model|messages|input|contents|system|systemInstruction|instructions|tools|stream|prompt|body',
    'previous_response_id|conversation|thread|container|cachedContent|prediction',
    'response_format|text|output_config|output_format|generationConfig',
  ].join('|')})$`,
)

/** How servers word that they do not accept a field. */
const wordings: readonly RegExp[] = [
  // OpenAI and servers of its protocols.
  /\b(?:Unsupported|Unknown|Unrecognized) parameter: ['"`]([\w.]+)['"`]/i,
  /\bUnrecognized request arguments? supplied: (\w+)/i,
  /\bUnsupported value: ['"`]([\w.]+)['"`] does not support/i,
  // Servers that validate with pydantic.
  /^(?:body\.)?([\w.]+): Extra inputs are not permitted/im,
  // Groq and Cerebras.
  /\bproperty ['"`](?:body\.)?([\w.]+)['"`] is unsupported/i,
  // Google.
  /\bUnknown name \\?"(\w+)\\?"/,
  // xAI.
  /\bArgument not supported on this model: (\w+)/i,
  // Anthropic.
  /^['"`](\w+)['"`] is (?:deprecated|not supported) (?:for|with|on) this model/i,
  // Amazon Bedrock. Fields of the conversation are named without their path.
  /\bdoesn't support the ((?:toolConfig\.toolChoice|inferenceConfig)[\w.]*) field/,
  // Servers in Rust and Go.
  /\bunknown field [`'"\\]+(\w+)/i,
]

/** The field that an error refuses. Undefined: none, or one that cannot be left out. */
export function refusedField({ status, message, param, code }: CanonicalError): string | undefined {
  if (status !== 400 && status !== 422) return undefined
  const worded =
    wordings.map(wording => wording.exec(message)?.[1]).find(found => found !== undefined) ??
    extraInput(message)
  const named = code === 'unsupported_parameter' || code === 'unknown_parameter' ? param : undefined
  const field = worded ?? named ?? undefined
  const [outermost = ''] = field?.split('.') ?? []
  return field !== undefined && /^[A-Za-z_][\w.]*$/.test(field) && !essential.test(outermost)
    ? field
    : undefined
}

/** The field in a fault of pydantic as JSON: `{"loc": ["body", "store"], "msg": "Extra inputs are not permitted"}`. */
function extraInput(message: string): string | undefined {
  return message.includes('Extra inputs are not permitted')
    ? /"loc":\s?\["body",\s?"(\w+)"\]/.exec(message)?.[1]
    : undefined
}
