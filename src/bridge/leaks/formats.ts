/**
 * How models write calls of tools as text where their server does not read them, as data. Sources:
 * the chat templates of the models and the parsers of vLLM
 * (https://github.com/vllm-project/vllm/tree/main/vllm/tool_parsers), November 2026.
 */

/**
 * A form of a call. `heads`: how it begins, up to where the name of the tool has been read. In a
 * head `~` is any white space, `@` the name of an offered tool, `#` an id, and `^` the place from
 * which on it is read again (default: its end). `arguments`: what is there.
 *
 * - `member`: the rest of a JSON value that has the arguments as a member.
 * - `value`: the arguments as JSON.
 * - `pairs`: names and values between tags.
 */
export type Format = {
  name: string
  heads: readonly string[]
  arguments: 'member' | 'value' | 'pairs'
  pairs?: Pairs
  /** What ends the call. For pairs, the first one has to come. */
  ends: readonly string[]
  /** Only where the text begins with it. */
  atStart?: true
  /** Only where nothing follows but other calls: text often shows such JSON. */
  alone?: true
}

/**
 * A name is between `open` and `name`, its value between `value` and `close`. `typed`: the name is
 * an attribute, and another one may say that the value is text. `lines`: the value is in lines of
 * its own.
 */
export type Pairs = {
  open: string
  name: string
  value: string
  close: string
  typed?: true
  lines?: true
}

/** JSON with the name of a tool, as far as the name. */
const named = [
  '^{~"name"~:~"@"',
  '^{~"type"~:~"function"~,~"name"~:~"@"',
  '^{~"type"~:~"function"~,~"function"~:~{~"name"~:~"@"',
  '^{~"id"~:~"#"~,~"name"~:~"@"',
]
/** The same with the arguments first: the name comes at the end of the call. */
const unnamed = ['^{~"arguments"~:', '^{~"parameters"~:']
const listed = [...named, ...unnamed].map(head => head.replace('^', '^[~'))

const after = (opening: string, heads: readonly string[]) => heads.map(head => `${opening}~${head}`)

/** The tags of an invocation, with this before each name of a tag, alone or in one of the groups. */
const invocation = (prefix: string, groups: readonly string[]): Format => ({
  name: `${prefix}invoke`,
  heads: ['', ...groups.map(group => `<${group}>~`)].flatMap(opening => [
    `${opening}<${prefix}invoke name="@">`,
    `${opening}<${prefix}invoke name=@>`,
  ]),
  arguments: 'pairs',
  pairs: {
    open: `<${prefix}parameter name=`,
    name: '>',
    value: '',
    close: `</${prefix}parameter>`,
    typed: true,
  },
  ends: [`</${prefix}invoke>`, ...groups.map(group => `</${group}>`)],
})

/** Every form, the more likely first. */
export const formats: readonly Format[] = [
  {
    name: 'hermes',
    heads: [
      ...after('<tool_call>', [...named, ...unnamed, ...listed]),
      ...after('<|tool_call|>', [...named, ...listed]),
      ...after('<function_call>', named),
      ...after('<tools>', named),
    ],
    arguments: 'member',
    ends: ['</tool_call>', '<|/tool_call|>', '</function_call>', '</tools>'],
  },
  {
    name: 'qwen-coder',
    heads: ['<function=@>', '<tool_call>~<function=@>', '<function name="@">'],
    arguments: 'pairs',
    pairs: { open: '<parameter=', name: '>', value: '', close: '</parameter>', lines: true },
    ends: ['</function>', '</tool_call>'],
  },
  {
    name: 'glm',
    heads: ['<tool_call>~@~^<arg_key>', '<tool_call>~@~^</tool_call>'],
    arguments: 'pairs',
    pairs: { open: '<arg_key>', name: '</arg_key>', value: '<arg_value>', close: '</arg_value>' },
    ends: ['</tool_call>'],
  },
  invocation('', ['function_calls', 'minimax:tool_call']),
  invocation('antml:', ['antml:function_calls']),
  invocation('｜DSML｜', ['｜DSML｜function_calls', '｜DSML｜tool_calls']),
  {
    name: 'deepseek',
    heads: [
      '<｜tool▁call▁begin｜>~@~<｜tool▁sep｜>',
      '<｜tool▁calls▁begin｜>~<｜tool▁call▁begin｜>~@~<｜tool▁sep｜>',
      '<｜tool▁call▁begin｜>~function<｜tool▁sep｜>~@~```json',
      '<｜tool▁calls▁begin｜>~<｜tool▁call▁begin｜>~function<｜tool▁sep｜>~@~```json',
    ],
    arguments: 'value',
    ends: ['```', '<｜tool▁call▁end｜>', '<｜tool▁calls▁end｜>', '<｜end▁of▁sentence｜>'],
  },
  {
    name: 'kimi',
    heads: [
      '<|tool_call_begin|>',
      '<|tool_calls_section_begin|>~<|tool_call_begin|>',
      '<|tool_call_section_begin|>~<|tool_call_begin|>',
    ].flatMap(opening =>
      ['~functions.@', '~@'].map(name => `${opening}${name}:#~<|tool_call_argument_begin|>`),
    ),
    arguments: 'value',
    ends: ['<|tool_call_end|>', '<|tool_calls_section_end|>', '<|tool_call_section_end|>'],
  },
  {
    name: 'mistral',
    heads: after('[TOOL_CALLS]', [...listed, ...named]),
    arguments: 'member',
    ends: ['</s>'],
  },
  {
    name: 'mistral with names',
    heads: ['[TOOL_CALLS]~@[ARGS]', '[TOOL_CALLS]~@[CALL_ID]#[ARGS]'],
    arguments: 'value',
    ends: ['</s>'],
  },
  {
    name: 'mistral without [ARGS]',
    heads: ['[TOOL_CALLS]~@~^{'],
    arguments: 'value',
    ends: ['</s>'],
  },
  {
    name: 'llama',
    heads: after('<|python_tag|>', [...named, ...listed]),
    arguments: 'member',
    ends: ['<|eom_id|>', '<|eot_id|>', ';'],
  },
  {
    name: 'fenced',
    heads: ['```json', '```tool_call', '```tool_code', '```'].flatMap(fence =>
      after(fence, [...named, ...listed.slice(0, named.length)]),
    ),
    arguments: 'member',
    ends: ['```'],
    alone: true,
  },
  {
    name: 'bare',
    heads: [...named, ...listed.slice(0, named.length)],
    arguments: 'member',
    ends: [';', ',', '<|eom_id|>', '<|eot_id|>', '</tool_call>'],
    atStart: true,
    alone: true,
  },
]
