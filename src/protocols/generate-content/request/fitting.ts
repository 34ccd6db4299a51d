import { nearestEffort } from '../../../kit/fields/effort.ts'
import { isObject, type JsonObject, without } from '../../../kit/json/json.ts'
import { createGeminiReport, type GenerateContentReport } from '../notes.ts'
import type { GenerateContentOptions } from '../options.ts'
import { budgets } from './effort.ts'

/**
 * The request as its server requires by the options, with a note for each change. The same object
 * if nothing has to change.
 */
export function fitRequest(
  wire: unknown,
  options: GenerateContentOptions,
): { wire: unknown; notes: GenerateContentReport['notes'] } {
  const report = createGeminiReport()
  const config = isObject(wire) ? wire['generationConfig'] : undefined
  const thinking = isObject(config) ? config['thinkingConfig'] : undefined
  if (!isObject(wire) || !isObject(config) || !isObject(thinking)) return { wire, notes: [] }
  const met = fitThinking(thinking, options, report)
  return met === thinking
    ? { wire, notes: [] }
    : {
        wire: { ...wire, generationConfig: { ...config, thinkingConfig: met } },
        notes: report.notes,
      }
}

const place = '/generationConfig/thinkingConfig'

function fitThinking(
  thinking: JsonObject,
  { thinking: way, efforts, leastBudget: least = 0 }: GenerateContentOptions,
  report: GenerateContentReport,
): JsonObject {
  const { thinkingLevel: level, thinkingBudget: budget } = thinking
  if (typeof level === 'string' && way === 'budget') {
    report.add('reasoning.effort-as-budget', `${place}/thinkingLevel`)
    const amount = Math.max(least, budgets.get(level.toLowerCase()) ?? 8192)
    return { thinkingBudget: amount, ...without(thinking, ['thinkingLevel']) }
  }
  if (typeof budget === 'number' && budget >= 0 && budget < least) {
    report.add('reasoning.least-budget', `${place}/thinkingBudget`)
    return { ...thinking, thinkingBudget: least }
  }
  if (typeof level !== 'string' || efforts === undefined) return thinking
  const word = nearestEffort(level.toLowerCase(), efforts.split(/[\s,]+/).filter(Boolean))
  if (word === undefined || word === level.toLowerCase()) return thinking
  report.add('reasoning.effort', `${place}/thinkingLevel`)
  return { ...thinking, thinkingLevel: word.toUpperCase() }
}
