/**
 * `npm run check:words`: finds words that the glossary replaces by the standard term of the field, and sentences of the docs with more
 * than 30 words. Prints each with its line.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A word, or a phrase with spaces, and what to write instead. Words are also found inside names: `asker` in `askerOf`. */
export const glossary: Record<string, string> = {
  reply: 'response',
  replies: 'responses',
  replied: 'responded',
  answer: 'response',
  answers: 'responses',
  answered: 'responded',
  answering: 'responding',
  piece: 'chunk, part',
  pieces: 'chunks, parts',
  asker: 'caller',
  asked: 'requested',
  'who asks': 'the caller',
  'the server behind': 'the upstream',
  towards: 'to, toward',
  tell: 'report',
  tells: 'reports',
  told: 'reported',
  said: 'reported, sent',
  heard: 'received',
  hears: 'receives',
  voice: 'a name after what it exports',
  stands: 'is',
  stood: 'was',
  nobody: 'no client, no caller',
  whoever: 'the caller, the user',
  'is no more': 'is dropped',
  'has no words': 'cannot express',
  'goes on': 'continues',
  'go on': 'continue',
  'going on': 'open',
  'give back': 'restore, return',
  'gives back': 'restores, returns',
  'gave back': 'restored, returned',
  owed: 'pending',
  'stand in': 'placeholder',
  usual: 'default, common',
  usually: 'by default, mostly',
  thoughts: 'reasoning',
  proof: 'reasoning signature',
  proofs: 'reasoning signatures',
  picture: 'image',
  pictures: 'images',
  sound: 'audio',
  sounds: 'audio',
  blot: 'redact',
  blots: 'redacts',
  blotted: 'redacted',
  odds: 'log probabilities',
  dice: 'seed, generator',
  law: 'property',
  laws: 'property',
  hole: 'vulnerability',
  holes: 'vulnerabilities',
  'how it ended': 'finish reason',
  'asked again': 'retried',
  'left alone': 'skipped, ignored',
  rests: 'is open (circuit breaker)',
  'as it came': 'unchanged',
  'as they came': 'unchanged',
  'without a word': 'without a note',
}

/** Files and words where the word is the right one, each with its reason. */
const exceptions: readonly { file: RegExp; words: readonly string[]; line?: RegExp; reason: string }[] = [
  { file: /^test\/(?:tools\/words|words\.test)\.ts$/, words: Object.keys(glossary), reason: 'the glossary itself' },
  { file: /^package-lock\.json$/, words: Object.keys(glossary), reason: 'names of packages' },
  { file: /./, words: ['thoughts'], line: /thoughtsTokenCount|thoughts_token_count|includeThoughts/, reason: 'fields of generate-content' },
  { file: /./, words: ['answer'], line: /final_answer/, reason: 'a value of responses' },
  { file: /./, words: ['answers'], line: /enableEnhancedCivicAnswers/, reason: 'a field of generate-content' },
  { file: /./, words: ['reply'], line: /noreply|no-reply|in_reply_to/, reason: 'an address or a field of a wire' },
  {
    file: /./,
    words: ['voice'],
    line: /[vV]oice_?(?:[cC]onfig|[nN]ame)|\bvoice\b(?!\.ts)|Voice\b/,
    reason: 'the voice of spoken output: a field of several wires',
  },
  { file: /./, words: ['said'], line: /(?:You|tool) said/, reason: 'what the demo model says' },
  { file: /^test\//, words: ['law', 'laws'], reason: 'the folder test/laws and its tools, which no user reads' },
  { file: /./, words: ['law', 'laws'], line: /test\/laws|npm run laws|"laws":|WIREGLOT_LAW_/, reason: 'the folder test/laws, its script and its variables' },
  { file: /^test\/corpus\/twins\.test\.ts$/, words: ['reply'], line: /basic-reply/, reason: 'names of recordings' },
  { file: /^docs\/drift\.md$/, words: ['answer', 'voice'], line: /PlaceAnswer|VoiceConsent/, reason: 'types of generate-content and messages' },
]

const mostWords = 30

const words = new Set(Object.keys(glossary).filter(entry => !entry.includes(' ')))
const phrases = Object.keys(glossary).filter(entry => entry.includes(' '))

/** Every use of a glossary word in a text: its 1-based line and the word. */
export function found(text: string): { line: number; word: string; text: string }[] {
  return text.split('\n').flatMap((text, index) => {
    const spaced = text
      .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
      .replaceAll(/[^A-Za-z]+/g, ' ')
      .toLowerCase()
    const hits = [...new Set(spaced.split(' '))].filter(word => words.has(word))
    hits.push(...phrases.filter(phrase => ` ${spaced} `.includes(` ${phrase} `)))
    return hits.map(word => ({ line: index + 1, word, text }))
  })
}

/** Sentences of a Markdown text with more than 30 words, with the line where their paragraph begins. Code blocks do not count; inline code is one word. */
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

function isException(file: string, { word, text }: { word: string; text: string }): boolean {
  return exceptions.some(entry => entry.file.test(file) && entry.words.includes(word) && (!entry.line || entry.line.test(text)))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = execFileSync('git', ['ls-files', ...process.argv.slice(2)], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  let count = 0
  for (const file of files) {
    if (/\.(svg|png|snap)$/.test(file)) continue
    const text = readFileSync(`${root}/${file}`, 'utf8')
    for (const hit of [...found(file).map(hit => ({ ...hit, line: 0 })), ...found(text)]) {
      if (isException(file, hit)) continue
      count++
      console.log(`${file}:${hit.line}: "${hit.word}": write ${glossary[hit.word]}`)
    }
    // Generated sentences that consist of counts.
    if (!file.endsWith('.md') || file === 'docs/drift.md' || file === 'bench/RESULTS.md') continue
    for (const { line, words, text: sentence } of longSentences(text)) {
      count++
      console.log(`${file}:${line}: a sentence of ${words} words: ${sentence.slice(0, 80)}…`)
    }
  }
  console.log(count === 0 ? 'every word is the standard one' : `${count} places to rewrite`)
  process.exitCode = count === 0 ? 0 : 1
}
