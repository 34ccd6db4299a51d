import { describe, expect, test } from 'vitest'
import { readOption } from '../../src/cli/options.ts'
import { documentedOptions } from '../tools/options.ts'

describe('--option name=value', () => {
  test.each([
    ['a flag', 'amAutoCache=true', { amAutoCache: true }],
    ['a flag that is off', 'amAutoCache=false', { amAutoCache: false }],
    ['a number', 'defaultMaxTokens=500', { defaultMaxTokens: 500 }],
    ['a word', 'systemPlacement=hoist', { systemPlacement: 'hoist' }],
    ['text that looks like a number', 'model=4', { model: '4' }],
    ['text with a sign of equality', 'errorPrefix=a=b', { errorPrefix: 'a=b' }],
    ['a list', 'strict=dropped,synthesized', { strict: ['dropped', 'synthesized'] }],
    ['a list as JSON', 'strict=["dropped"]', { strict: ['dropped'] }],
  ])('takes %s', (_, text, expected) => {
    expect(readOption(text, {})).toEqual(expected)
  })

  test.each([
    ['a name that is no option', 'amAutocache=true', /There is no option amAutocache; there are .*amAutoCache/],
    ['a name that every object has', 'constructor=1', /There is no option constructor/],
    ['a word that the option does not take', 'systemPlacement=top', /systemPlacement is one of auto, keep, user, hoist/],
    ['text for a number', 'now=soon', /now is a number/],
    ['a number for a flag', 'amAutoCache=1', /amAutoCache is true or false/],
    ['no value', 'amAutoCache', /written name=value/],
    ['a kind of note that there is not', 'strict=lost', /strict is true, false, or some of/],
  ])('refuses %s and says why', (_, text, message) => {
    expect(() => readOption(text, {})).toThrow(message)
  })

  test('is told the words that each documented option takes', () => {
    for (const { name, values } of documentedOptions)
      for (const [, word] of /^[^{(]*$/.test(values) ? values.matchAll(/'([^']+)'/g) : []) expect(readOption(`${name}=${word}`, {})).toEqual({ [name]: word })
  })
})
