import { readFileSync } from 'node:fs'
import { type VendorName, vendorNames, vendors } from '../../../src/vendors/index.ts'
import type { Agent } from './agents.ts'
import { play, ways } from './play.ts'

/** What people call the recorded programs. */
const products: [name: string, programs: RegExp][] = [
  ['Claude Code', /^claude-code/],
  ['Codex', /^codex/],
  ['Gemini CLI', /^gemini-cli/],
  ['opencode', /^opencode/],
  ['OpenAI SDK', /^openai-(chat|responses)/],
  ['OpenAI Agents', /^openai-agents/],
  ['Anthropic SDK', /^anthropic-sdk/],
  ['Google SDK', /^google-genai/],
  ['AI SDK', /^ai-sdk/],
  ['LangChain', /^langchain/],
]

/** By vendor, the products whose programs all worked with all of its models. */
export type Passed = Record<string, string[]>

const file = new URL('passed.json', import.meta.url)

/** What was measured last. */
export const lastPassed = (): Passed => JSON.parse(readFileSync(file, 'utf8')) as Passed
export const passedFile = file

/** Lets every agent work with every vendor. */
export async function measure(
  agents: readonly Agent[],
  onFault: (fault: string) => void = () => {},
): Promise<Passed> {
  const passed: Passed = {}
  for (const vendor of vendorNames) {
    const failed = new Set<string>()
    for (const way of ways.filter(one => one.vendor === vendor))
      for (const agent of agents)
        for (const fault of await play(agent, way)) {
          failed.add(agent.name)
          onFault(`${vendor}, ${way.model}, ${agent.name}: ${fault}`)
        }
    passed[vendor] = products
      .filter(([, programs]) =>
        agents.every(({ name }) => !programs.test(name) || !failed.has(name)),
      )
      .map(([name]) => name)
  }
  return passed
}

/** Vendors that respond without tools. */
const withoutTools: ReadonlySet<VendorName> = new Set(['perplexity'])

/** The head and the rows of the table in the README. */
export function productRows(): { head: string[]; rows: string[][] } {
  const passed = lastPassed()
  const mark = (vendor: VendorName, product: string) => {
    if (!passed[vendor]?.includes(product)) return '–'
    return withoutTools.has(vendor) ? '✓ ¹' : '✓'
  }
  return {
    head: ['', ...products.map(([name]) => name)],
    rows: vendorNames.map(vendor => [
      vendors[vendor].title,
      ...products.map(([name]) => mark(vendor, name)),
    ]),
  }
}
