import { describe, expect, test } from 'vitest'
import { found, longSentences } from './tools/words.ts'

describe('found', () => {
  test('finds a glossary word in a sentence', () => {
    expect(found('The asker waits.\nThe caller waits.')).toEqual([{ line: 1, word: 'asker' }])
  })

  test('finds a phrase, and not its words alone', () => {
    expect(found('It is left alone.').map(({ word }) => word)).toEqual(['left alone'])
    expect(found('It is left, and alone.')).toEqual([])
  })
})

describe('longSentences', () => {
  const words = (count: number) =>
    Array.from({ length: count }, (_, index) => `word${index}`).join(' ')

  test('finds a sentence above 30 words when it spans lines', () => {
    expect(longSentences(`# Title\n\nShort.\n${words(15)}\n${words(16)}.\n`)).toEqual([
      expect.objectContaining({ line: 3, words: 31 }),
    ])
  })

  test('accepts 30 words, code blocks, and list items and cells one by one', () => {
    expect(
      longSentences(
        `${words(30)}. ${words(30)}.\n\`\`\`\n${words(40)}\n\`\`\`\n- ${words(20)}\n- ${words(20)}\n| ${words(20)} | ${words(20)} |\n`,
      ),
    ).toEqual([])
  })

  test('counts inline code as one word', () => {
    expect(longSentences(`\`${words(40)}\` is one word.`)).toEqual([])
  })
})
