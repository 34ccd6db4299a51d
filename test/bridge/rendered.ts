/** How models write calls as text: written from the chat templates of the models. */

export type Called = { name: string; arguments: Record<string, unknown> }

/** `text`: whether text may follow. `plain`: it can only hold texts without tags as arguments. */
export type Rendering = { render(calls: readonly Called[]): string; text: boolean; plain: boolean }

const json = (one: Called, key = 'arguments') =>
  JSON.stringify({ name: one.name, [key]: one.arguments })

const each = (render: (one: Called, index: number) => string, separator = '\n') => {
  return (calls: readonly Called[]) => calls.map(render).join(separator)
}

const pairs = (one: Called, render: (name: string, value: string) => string) =>
  Object.entries(one.arguments)
    .map(([name, value]) => render(name, typeof value === 'string' ? value : JSON.stringify(value)))
    .join('\n')

const invoked = (one: Called, prefix = '') =>
  `<${prefix}invoke name="${one.name}">\n${pairs(
    one,
    (name, value) => `<${prefix}parameter name="${name}">${value}</${prefix}parameter>`,
  )}\n</${prefix}invoke>`

const coder = (one: Called) =>
  `<function=${one.name}>\n${pairs(
    one,
    (name, value) => `<parameter=${name}>\n${value}\n</parameter>`,
  )}\n</function>`

const deepseek = (render: (one: Called) => string) => (calls: readonly Called[]) =>
  `<｜tool▁calls▁begin｜>${calls
    .map(one => `<｜tool▁call▁begin｜>${render(one)}<｜tool▁call▁end｜>`)
    .join('\n')}<｜tool▁calls▁end｜>`

export const renderings: Record<string, Rendering> = {
  hermes: {
    render: each(one => `<tool_call>\n${json(one)}\n</tool_call>`),
    text: true,
    plain: false,
  },
  'hermes, arguments first': {
    render: each(
      one =>
        `<tool_call>\n${JSON.stringify({ arguments: one.arguments, name: one.name })}\n</tool_call>`,
    ),
    text: true,
    plain: false,
  },
  'qwen coder': {
    render: each(one => `<tool_call>\n${coder(one)}\n</tool_call>`),
    text: true,
    plain: true,
  },
  'qwen coder without its first tag': {
    render: each(one => `${coder(one)}\n</tool_call>`),
    text: true,
    plain: true,
  },
  'function with JSON': {
    render: each(one => `<function=${one.name}>${JSON.stringify(one.arguments)}</function>`),
    text: true,
    plain: false,
  },
  'deepseek V3': {
    render: deepseek(
      one =>
        `function<｜tool▁sep｜>${one.name}\n\`\`\`json\n${JSON.stringify(one.arguments)}\n\`\`\``,
    ),
    text: true,
    plain: false,
  },
  'deepseek V3.1': {
    render: deepseek(one => `${one.name}<｜tool▁sep｜>${JSON.stringify(one.arguments)}`),
    text: true,
    plain: false,
  },
  'deepseek V3.2': {
    render: calls =>
      `<｜DSML｜function_calls>\n${calls
        .map(
          one =>
            `<｜DSML｜invoke name="${one.name}">\n${Object.entries(one.arguments)
              .map(([name, value]) => {
                const isText = typeof value === 'string'
                return `<｜DSML｜parameter name="${name}" string="${isText}">${isText ? value : JSON.stringify(value)}</｜DSML｜parameter>`
              })
              .join('\n')}\n</｜DSML｜invoke>`,
        )
        .join('\n')}\n</｜DSML｜function_calls>`,
    text: true,
    plain: true,
  },
  kimi: {
    render: calls =>
      `<|tool_calls_section_begin|>${calls
        .map(
          (one, i) =>
            `<|tool_call_begin|>functions.${one.name}:${i}<|tool_call_argument_begin|>${JSON.stringify(one.arguments)}<|tool_call_end|>`,
        )
        .join('')}<|tool_calls_section_end|>`,
    text: true,
    plain: false,
  },
  glm: {
    render: each(
      one =>
        `<tool_call>${one.name}\n${pairs(
          one,
          (name, value) => `<arg_key>${name}</arg_key>\n<arg_value>${value}</arg_value>`,
        )}\n</tool_call>`,
    ),
    text: true,
    plain: true,
  },
  minimax: {
    render: calls =>
      `<minimax:tool_call>\n${calls.map(one => invoked(one)).join('\n')}\n</minimax:tool_call>`,
    text: true,
    plain: true,
  },
  'function calls': {
    render: calls =>
      `<function_calls>\n${calls.map(one => invoked(one)).join('\n')}\n</function_calls>`,
    text: true,
    plain: true,
  },
  mistral: {
    render: calls => `[TOOL_CALLS][${calls.map(one => json(one)).join(', ')}]`,
    text: true,
    plain: false,
  },
  'mistral with names': {
    render: each(one => `[TOOL_CALLS]${one.name}[ARGS]${JSON.stringify(one.arguments)}`, ''),
    text: true,
    plain: false,
  },
  llama: {
    render: calls => `<|python_tag|>${calls.map(one => json(one, 'parameters')).join('; ')}`,
    text: true,
    plain: false,
  },
  bare: { render: each(one => json(one, 'parameters'), '\n'), text: false, plain: false },
  fenced: {
    render: each(one => `\`\`\`json\n${json(one)}\n\`\`\``),
    text: false,
    plain: false,
  },
}
