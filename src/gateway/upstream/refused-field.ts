import type { CanonicalError } from '../../canonical/error.ts'
import { isObject, type JsonObject, parseJson } from '../../kit/json/json.ts'
import { hasAnyField } from '../../translate/unsupported.ts'

/**
 * A field of a request that an upstream does not accept. `once`: it is left out of this request
 * only, and not remembered for others.
 */
export type RefusedField = { field: string; once?: true }

/**
 * The field that an error refuses. Upstreams repeat in their messages what a client has sent, so a
 * field counts only if the whole message is one of the known wordings around it, and the request
 * has this field. Undefined: none, or one that cannot be left out. `sentBody`: parses the request,
 * which may be long.
 */
export function refusedField(
  error: CanonicalError,
  sentBody: () => unknown,
): RefusedField | undefined {
  if (error.status !== 400 && error.status !== 422) return undefined
  const found = extraInput(error) ?? worded(error.message)
  const sent = found && sentBody()
  if (!found || !isObject(sent)) return undefined
  const field = found.fields.find(name => hasAnyField(sent, [name]))
  if (field === undefined) return undefined
  const path = field.split('.').map(loosely)
  const [outermost = ''] = path
  if (essential.has(outermost) || path.some(key => outputLimits.has(key))) return undefined
  if (isAboutAnother(error, outermost, sent)) return undefined
  const isShared =
    !found.once && !accounted.has(outermost) && !isQuoted(found.words, sent, outermost)
  return isShared ? { field } : { field, once: true }
}

/** Some protocols are written in camelCase and in snake_case. */
const loosely = (key: string) => key.replaceAll('_', '').toLowerCase()

/**
 * Without them a request makes no sense, loses its conversation, or gets a response in another
 * format.
 */
const essential: ReadonlySet<string> = new Set(
  [
    'model messages input contents system systemInstruction instructions tools stream prompt body',
    'previous_response_id conversation thread container cachedContent prediction',
    'response_format text output_config output_format generationConfig',
  ].flatMap(names => names.split(' ').map(loosely)),
)

/** Without them a request may cost more than its client wants. */
const outputLimits: ReadonlySet<string> = new Set(
  ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens'].map(loosely),
)

/** Without them streams have no usage, which budgets and records need. */
const accounted: ReadonlySet<string> = new Set(['stream_options'].map(loosely))

/** `fields`: the one that is refused is the first of them that the request has. */
type Found = { fields: readonly string[]; words: string; once?: true }

/**
 * `words`: the whole message, with the group `field`, or without it where the server means one of
 * `fields`. `once`: it is about the value.
 */
type Wording = { words: RegExp; fields?: readonly string[]; once?: true }

/**
 * How servers word that they do not accept a field. A name of a model or provider is one word, so
 * no sentence fits in.
 */
const wordings: readonly Wording[] = [
  // OpenAI and servers of its protocols: github.com/decolua/9router/issues/536,
  // github.com/coleam00/mcp-mem0/issues/2.
  {
    words:
      /^(?:Unsupported|Unknown|Unrecognized) parameter: ['"`](?<field>[\w.]+)['"`](?: is not supported with this model)?\.?(?: Use '[\w.]+' instead\.| Did you mean '[\w.]+'\?| In the Responses API, this parameter has moved to '[\w.]+'\. Try again with the new parameter\. See the API documentation for more information: https:\/\/platform\.openai\.com\/docs\/api-reference\/responses\/create\.)?$/i,
  },
  { words: /^Unrecognized request arguments? supplied: (?<field>\w+)(?:, \w+)*$/i },
  // Only a number can be quoted here, and without the field the request has the only value that is
  // accepted: github.com/QwenLM/qwen-code/issues/921.
  {
    words:
      /^Unsupported value: '(?<field>[\w.]+)' does not support -?[\d.]+ with this model\. Only the default \(-?[\d.]+\) value is supported\.$/,
  },
  {
    words:
      /^Unsupported value: '(?<field>[\w.]+)' does not support '[^']*' with this model\.(?: Supported values are: '\w+'(?:, '\w+')*,?(?: and '\w+')?\.)?$/,
    once: true,
  },
  // Anthropic, and other servers that validate with pydantic:
  // github.com/caozhiyuan/copilot-api/issues/145.
  { words: /^(?:(?:body\.)?(?!body\.)(?<field>[\w.]+): Extra inputs are not permitted ?)+$/ },
  // The same as Python prints it: NVIDIA, older vLLM.
  {
    words:
      /^\[\{'type': 'extra_forbidden', 'loc': \('body', '(?<field>\w+)'\), 'msg': 'Extra inputs are not permitted'(?:, 'input': (?:True|False|None|-?[\d.]+))?\}\]$/,
  },
  {
    words:
      /^['"`](?<field>\w+)['"`] is (?:deprecated|not supported) (?:for|with|on) this model\.?$/i,
  },
  // Groq and Cerebras.
  {
    words:
      /^(?:body\.[\w.]+: )?property ['"`](?:body\.)?(?!body\.)(?<field>[\w.]+)['"`] is unsupported(?:, did you mean '[\w.]+'\?)?\.?$/,
  },
  // Google: github.com/sourcegraph/cody/issues/4566. A nested field has `at` and its path behind
  // its name.
  {
    words:
      /^(?:Invalid JSON payload received\. Unknown name "(?<field>\w+)": Cannot find field\. ?)+$/,
  },
  // xAI: github.com/n8n-io/n8n/issues/14581, github.com/open-webui/open-webui/issues/21266.
  { words: /^Argument not supported on this model: (?<field>\w+)$/ },
  { words: /^Model [\w./:@-]+ does not support parameter (?<field>\w+)\.?$/ },
  // Amazon Bedrock. Fields of the conversation are named without their path.
  {
    words:
      /^This model doesn't support the (?<field>(?:toolConfig\.toolChoice|inferenceConfig)[\w.]*) field\.?(?: Remove [\w.]+ and try again\.)?$/,
  },
  {
    words:
      /^Malformed input request: (?:#: )?extraneous key \[(?<field>\w+)\] is not permitted, please reformat your input and try again\.$/,
  },
  // Servers in Rust (serde) and Go.
  {
    words:
      /^(?:Failed to deserialize the JSON body(?: into the target type)?: )?(?:(?<at>\w+): (?=unknown field `\k<at>`))?unknown field `(?<field>\w+)`(?:, there are no fields|, expected (?:one of )?`\w+`(?:(?:, | or )`\w+`)*)?(?: at line \d+ column \d+)?$/,
  },
  { words: /^json: unknown field "(?<field>\w+)"$/ },
  // llama.cpp: github.com/ggml-org/llama.cpp/issues/12591.
  { words: /^Unsupported param: (?<field>\w+)$/ },
  // LiteLLM in front of a provider (litellm/utils.py).
  {
    words:
      /^litellm\.UnsupportedParamsError: [\w./:@-]+ does not support parameters: \['(?<field>\w+)'(?:, '\w+')*\](?:, for model=[\w./:@-]+\. To drop these, set `litellm\.drop_params=True` or for proxy: `litellm_settings: drop_params: true` ?\.?)?(?: If you want to use these params dynamically send allowed_openai_params=\['\w+'(?:, '\w+')*\] in your request\.)?(?:\.? Received Model Group=[\w./:@-]+ Available Model Group Fallbacks=(?:None|\[[\w./:@', -]*\]))?(?: LiteLLM Retried: \d+ times(?:, LiteLLM Max Retries: \d+)?)?$/,
  },
  // The same about reasoning (LiteLLM 1.104 to 1.108): the field over responses, and a value of it.
  {
    words:
      /^(?:litellm\.UnsupportedParamsError: )?[\w./:@-]+ doesn't support [`'](?<field>[\w.]+)[`'] \(its model cost map entry lacks [`']\w+[`']\)(?:\. To drop unsupported params,? set `litellm\.drop_params ?= ?True`)?\.?(?: Received Model Group=[\w./:@-]+ Available Model Group Fallbacks=None)?$/,
  },
  {
    words:
      /^litellm\.UnsupportedParamsError: (?<field>\w+)=\w+ is not supported for this model\.?(?: Received Model Group=[\w./:@-]+ Available Model Group Fallbacks=None)?$/,
  },
  // Ollama (server/routes.go), for a model that cannot reason, or not as much (0.17). Each of its
  // protocols has another field for this.
  {
    words:
      /^(?:"[\w./:@-]+" does not support thinking|think value "\w+" is not supported for this model)$/,
    fields: ['reasoning_effort', 'reasoning', 'think', 'thinking'],
  },
]

function worded(message: string): Found | undefined {
  const words = message.trim().replaceAll(/\s+/g, ' ')
  for (const { words: known, fields = [], once } of wordings) {
    const match = known.exec(words)
    const field = match?.groups?.['field']
    if (match)
      return { fields: field === undefined ? fields : [field], words, ...(once && { once }) }
  }
  return undefined
}

/**
 * The field in faults of pydantic as JSON, if all of them are of this kind: `{"loc": ["body",
 * "store"], "msg": "Extra inputs are not permitted"}`.
 */
function extraInput({ raw, message }: CanonicalError): Found | undefined {
  const faults = detailIn(raw) ?? (message.startsWith('[') ? parseJson(message) : undefined)
  if (!Array.isArray(faults)) return undefined
  const places = faults.map(placeOf)
  const [first] = places
  return first === undefined || places.includes(undefined)
    ? undefined
    : { fields: [first], words: `${first}: ${extra}` }
}

/** Where FastAPI, and Mistral, have the list of faults. */
function detailIn(raw: unknown): unknown {
  if (!isObject(raw)) return undefined
  const { detail, message, error } = raw
  if (detail !== undefined) return detail
  return [message, error].map(inner => isObject(inner) && inner['detail']).find(Array.isArray)
}

const extra = 'Extra inputs are not permitted'

function placeOf(fault: unknown): string | undefined {
  if (!isObject(fault) || fault['msg'] !== extra || !Array.isArray(fault['loc'])) return undefined
  const [root, ...path]: unknown[] = fault['loc']
  return root === 'body' && path.length > 0 ? path.map(String).join('.') : undefined
}

/**
 * Does the error name another field of the request in `param`? Some servers have other words there.
 */
function isAboutAnother({ param }: CanonicalError, outermost: string, sent: JsonObject): boolean {
  const [named = ''] = (param ?? '').split(/[.[]/)
  return loosely(named) !== outermost && hasAnyField(sent, [named])
}

/** In UTF-16 units. Shorter texts, such as `user` and `text`, are in many messages by chance. */
const shortestQuote = 5

/**
 * Has the client sent these words, or a part of them? The name of the model does not count, because
 * fields are remembered by model, nor does the refused field itself.
 */
function isQuoted(words: string, { model: _, ...sent }: JsonObject, refused: string): boolean {
  const left: unknown[] = Object.keys(sent).flatMap(key => {
    if (loosely(key) === refused) return []
    return key.includes(words) ? [key] : [sent[key]]
  })
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'string') {
      const isLong = value.length >= shortestQuote
      if (isLong && (words.includes(value) || value.includes(words))) return true
    } else if (isObject(value) || Array.isArray(value)) {
      if (Object.keys(value).some(key => key.includes(words))) return true
      for (const inner of Object.values(value)) left.push(inner)
    }
  }
  return false
}
