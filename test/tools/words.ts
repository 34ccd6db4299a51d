/**
 * `npm run check:words`: finds words in README and docs that only this project uses, where the
 * field has a term, and sentences with more than 30 words. Prints each with its line.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A word or a phrase, and what to write instead. */
export const glossary: Record<string, string> = {
  asker: 'caller',
  'who asks': 'the caller',
  'the server behind': 'the upstream',
  'has no words': 'cannot express',
  'is no more': 'is dropped',
  'without a word': 'without a note',
  owed: 'pending',
  proof: 'reasoning signature',
  proofs: 'reasoning signatures',
  blot: 'redact',
  blots: 'redacts',
  blotted: 'redacted',
  odds: 'log probabilities',
  dice: 'seed, generator',
  'how it ended': 'finish reason',
  'left alone': 'skipped, ignored',
}

const mostWords = 30

/** Every use of a glossary word in a text: its 1-based line and the word. */
export function found(text: string): { line: number; word: string }[] {
  return text.split('\n').flatMap((line, index) => {
    const spaced = ` ${line.replaceAll(/[^A-Za-z]+/g, ' ').toLowerCase()} `
    const hits = Object.keys(glossary).filter(word => spaced.includes(` ${word} `))
    return hits.map(word => ({ line: index + 1, word }))
  })
}

/**
 * Sentences of a Markdown text with more than 30 words, with the line where their paragraph begins.
 * Code blocks do not count; inline code is one word.
 */
export function longSentences(markdown: string): { line: number; words: number; text: string }[] {
  const found: { line: number; words: number; text: string }[] = []
  let block: string[] = []
  let first = 1
  let isCode = false
  const flush = () => {
    const text = block
      .join(' ')
      .replaceAll(/`[^`]*`/g, 'code')
      .replaceAll(/\]\([^)]*\)/g, ']')
      .replaceAll(/<[^>]*>/g, ' ')
    for (const sentence of text.split(/[.!?] |\|/)) {
      const words = sentence.split(/\s+/).filter(word => /[\p{L}\d]/u.test(word)).length
      if (words > mostWords) found.push({ line: first, words, text: sentence.trim() })
    }
    block = []
  }
  for (const [index, line] of markdown.split('\n').entries()) {
    const isFence = line.trimStart().startsWith('```')
    if (isFence || line.trim() === '' || /^(?:\s*(?:[-*]|\d+\.) |#|\|)/.test(line)) flush()
    if (isFence) isCode = !isCode
    else if (!isCode && line.trim() !== '') {
      if (block.length === 0) first = index + 1
      block.push(line)
    }
  }
  flush()
  return found
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' })
  const files = [
    'README.md',
    ...pages.filter(page => page.endsWith('.md')).map(page => `docs/${page}`),
  ]
  let count = 0
  for (const file of files) {
    const text = readFileSync(`${root}/${file}`, 'utf8')
    for (const { line, word } of found(text)) {
      count++
      console.log(`${file}:${line}: "${word}": write ${glossary[word]}`)
    }
    // Generated sentences that consist of counts.
    if (file === 'docs/drift.md') continue
    for (const { line, words, text: sentence } of longSentences(text)) {
      count++
      console.log(`${file}:${line}: a sentence of ${words} words: ${sentence.slice(0, 80)}…`)
    }
  }
  console.log(count === 0 ? 'every word is the standard one' : `${count} places to rewrite`)
  process.exitCode = count === 0 ? 0 : 1
}
