import { describe, expect, test } from 'vitest'
import { readOption } from '../../src/cli/options.ts'
import { documentedOptions } from '../tools/options.ts'

describe('--option name=value', () => {
  test.each([
    ['a flag', 'messages.autoCache=true', { messages: { autoCache: true } }],
    ['a flag that is off', 'messages.autoCache=false', { messages: { autoCache: false } }],
    ['a number', 'messages.defaultMaxTokens=500', { messages: { defaultMaxTokens: 500 } }],
    [
      'a word',
      'chatCompletions.systemPlacement=hoist',
      { chatCompletions: { systemPlacement: 'hoist' } },
    ],
    ['text that looks like a number', 'model=4', { model: '4' }],
    ['text with a sign of equality', 'tools.errorPrefix=a=b', { tools: { errorPrefix: 'a=b' } }],
    ['a list', 'strict=dropped,synthesized', { strict: ['dropped', 'synthesized'] }],
    ['a list as JSON', 'strict=["dropped"]', { strict: ['dropped'] }],
  ])('parses %s', (_, text, expected) => {
    expect(readOption(text, {})).toEqual(expected)
  })

  test.each([
    [
      'a misspelled name',
      'messages.autocache=true',
      /messages.autocache: there is no such option; did you mean messages.autoCache\?/,
    ],
    [
      'a name without its group',
      'billingLine=drop',
      /billingLine: there is no such option; did you mean messages.billingLine\?/,
    ],
    [
      'a group that does not exist',
      'message.autoCache=true',
      /message: there is no such option; did you mean messages\?/,
    ],
    [
      'a function',
      'messages.convertMedia=x',
      /messages.convertMedia is a function, which only a program can pass/,
    ],
    ['a name that every object has', 'constructor=1', /constructor: there is no such option/],
    ['one in a group', 'messages.constructor=1', /messages.constructor: there is no such option/],
    [
      'a word that the option does not take',
      'messages.systemPlacement=top',
      /messages.systemPlacement is one of auto, keep, user, hoist/,
    ],
    ['text for a number', 'now=soon', /now is a number/],
    ['a number for a flag', 'messages.autoCache=1', /messages.autoCache is true or false/],
    ['no value', 'autoCache', /written name=value/],
    ['a kind of note that there is not', 'strict=lost', /strict is true, false, or some of/],
  ])('refuses %s and says why', (_, text, message) => {
    expect(() => readOption(text, {})).toThrow(message)
  })

  test('accepts the documented values of each option', () => {
    for (const { group, name, values } of documentedOptions)
      for (const [, word] of /^[^{(]*$/.test(values) ? values.matchAll(/'([^']+)'/g) : [])
        expect(readOption(`${group ? `${group}.` : ''}${name}=${word}`, {})).toEqual(
          group ? { [group]: { [name]: word } } : { [name]: word },
        )
  })
})
