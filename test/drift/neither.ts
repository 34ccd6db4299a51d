/**
 * What says nothing that another protocol could keep. `name`: of the site, see `Site`. A row that
 * no site needs fails the tool.
 */
export type Neither = { protocol: string; kind: string; name: RegExp; reason: string }

const row = (protocol: string, kind: string, name: RegExp, reason: string): Neither => ({
  protocol,
  kind,
  name,
  reason,
})

const one = 'one speaker speaks in a response, whatever the field is'
const frame = 'only the frame of a stream: every stream has it, whatever it says'
const again = 'repeats the content of earlier events of the stream'

export const neither: readonly Neither[] = [
  row(
    'chat-completions',
    'request',
    /^Request\.tool_choice = \w+ \((function|custom)\)$/,
    'both name a tool, and the list of tools says of which kind it is',
  ),
  row(
    'chat-completions',
    'response',
    /^\w+TokensDetails\.text_tokens$/,
    'the rest of the total, as long as the other counts are known',
  ),
  row('chat-completions', 'event', /^Delta\.role\b/, one),
  row(
    'chat-completions',
    'event',
    /^ChatCompletionChunk\.obfuscation$/,
    'random text that hides the length of the event',
  ),
  row(
    'responses',
    'request',
    /^Request\.tool_choice = \w+ \((function|custom)\)$/,
    'both name a tool, and the list of tools says of which kind it is',
  ),
  row('responses', 'request', /^\w+\.allowed_callers$/, 'the default: only the model calls it'),
  row(
    'responses',
    'request',
    /^Request\.input = (EasyInput)?Message \(message\)$/,
    'two forms of one message',
  ),
  row(
    'responses',
    'event',
    /\.(sequence_number|item_id|output_index|content_index|summary_index|annotation_index|command_index)$/,
    'the place of the event in the stream',
  ),
  row('responses', 'event', /\.obfuscation$/, 'random text that hides the length of the event'),
  row(
    'responses',
    'event',
    /\((response\.(completed|in_progress|queued|reasoning_summary_part\.(added|done)))\)$/,
    frame,
  ),
  row('responses', 'event', /^(ReasoningText|Part)\.text$/, again),
  row('responses', 'event', /^(Top)?Logprob\.(token|logprob)$/, again),
  row('messages', 'request', /^Request\.cache_control$/, 'these providers cache by default'),
  row('messages', 'event', /\((message_stop|content_block_stop)\)$/, frame),
  row(
    'messages',
    'event',
    /^BetaCompactionContentBlockDelta\./,
    'belongs to a block that has a note of its own',
  ),
  row('generate-content', 'request', /^Content\.role$/, 'a system instruction has one role'),
  row('generate-content', 'response', /^Content\.role$/, one),
  row('generate-content', 'event', /^Content\.role$/, one),
  row(
    'generate-content',
    'event',
    /^Candidate\.index$/,
    'a candidate without an index is the first, whose index is 0',
  ),
  row('converse', 'response', /^Message\.role\b/, one),
  row(
    'converse',
    'response',
    /^ConverseResponse\.serviceTier$/,
    'the default tier, which a response has unless it says another',
  ),
  row('converse', 'event', /^MessageStartEvent\.role\b/, one),
  row('converse', 'event', /\((messageStart|contentBlockStop)\)$/, frame),
  row(
    'converse',
    'event',
    /^(ContentBlockDelta\.toolResult = |ToolResultBlockDelta\.)/,
    'belongs to a block that has a note of its own',
  ),
]
