import { describe, expect, test } from 'vitest'
import type { Citation } from '../../../src/canonical/message.ts'
import { translateResponse } from '../../../src/index.ts'
import {
  decodeGrounding,
  encodeGrounding,
} from '../../../src/protocols/generate-content/content/citations.ts'

const web = (uri: string, title = 't') => ({ web: { uri, title } })
const support = (segment: object, ...groundingChunkIndices: number[]) => ({
  segment,
  groundingChunkIndices,
})
const response = (text: string, place = 0) => ({ text, place })
const spans = ({ found }: ReturnType<typeof decodeGrounding>) =>
  found.map(({ textIndex: of, citation: { url, fileId, start, end } }) => [
    of,
    url ?? fileId,
    start,
    end,
  ])

describe('decoding grounding', () => {
  test.each<
    [what: string, texts: { text: string; place: number }[], segment: object, expected: unknown[]]
  >([
    [
      'bytes count as code points',
      [response('zürich 🙂!')],
      { startIndex: 1, endIndex: 3 },
      [0, 'u', 1, 2],
    ],
    ['four of them are one', [response('a🙂b')], { startIndex: 1, endIndex: 5 }, [0, 'u', 1, 2]],
    [
      'a span begins at 0 where it has no start',
      [response('abc')],
      { endIndex: 2 },
      [0, 'u', 0, 2],
    ],
    [
      'a span counts in all of the response',
      [response('abc', 1), response('def', 3)],
      { startIndex: 4, endIndex: 6 },
      [1, 'u', 1, 3],
    ],
    [
      'a span with a part counts in it',
      [response('abc', 1), response('def', 3)],
      { partIndex: 3, endIndex: 2 },
      [1, 'u', 0, 2],
    ],
  ])('%s', (_, texts, segment, expected) => {
    expect(
      spans(
        decodeGrounding(
          { groundingChunks: [web('u')], groundingSupports: [support(segment, 0)] },
          texts,
        ),
      ),
    ).toEqual([expected])
  })

  test('decodes one support with several sources', () => {
    const grounding = {
      groundingChunks: [web('a'), web('b')],
      groundingSupports: [support({ endIndex: 1 }, 0, 1)],
    }
    expect(spans(decodeGrounding(grounding, [response('x')]))).toEqual([
      [0, 'a', 0, 1],
      [0, 'b', 0, 1],
    ])
  })

  test('decodes the fields of a file', () => {
    const grounding = {
      groundingChunks: [{ retrievedContext: { uri: 'files/1', title: 'a.pdf', text: 'cited' } }],
      groundingSupports: [support({ endIndex: 1 }, 0)],
    }
    expect(decodeGrounding(grounding, [response('x')]).found[0]?.citation).toMatchObject({
      kind: 'file',
      fileId: 'files/1',
      filename: 'a.pdf',
      citedText: 'cited',
    })
  })

  test('cites the page of an image when the source is one', () => {
    const image = {
      sourceUri: 'https://a.example/page',
      imageUri: 'https://a.example/1.png',
      title: 'A',
      domain: 'a.example',
    }
    const { found, left } = decodeGrounding(
      { groundingChunks: [{ image }], groundingSupports: [support({ endIndex: 1 }, 0)] },
      [response('x')],
    )
    expect(found[0]?.citation).toMatchObject({
      kind: 'url',
      url: 'https://a.example/page',
      title: 'A',
      start: 0,
      end: 1,
    })
    expect(left).toEqual({
      groundingChunks: [{ image: { imageUri: 'https://a.example/1.png', domain: 'a.example' } }],
    })
  })

  test('rounds down an offset inside a character, with a note', () => {
    const { found, rounded } = decodeGrounding(
      {
        groundingChunks: [web('u')],
        groundingSupports: [support({ startIndex: 2, endIndex: 4 }, 0)],
      },
      [response('🙂')],
    )
    expect(found[0]?.citation).toMatchObject({ start: 0, end: 1 })
    expect(rounded).toBe(true)
  })

  test.each<[what: string, grounding: object, left: object]>([
    [
      'nothing where all is known',
      { groundingChunks: [web('u')], groundingSupports: [support({ endIndex: 1, text: 'x' }, 0)] },
      {},
    ],
    [
      'how sure the server is',
      {
        groundingChunks: [web('u')],
        groundingSupports: [{ ...support({ endIndex: 1 }, 0), confidenceScores: [0.5] }],
      },
      { groundingSupports: [{ confidenceScores: [0.5] }] },
    ],
    [
      'an uncited source',
      { groundingChunks: [web('u'), web('v')], groundingSupports: [support({ endIndex: 1 }, 0)] },
      { groundingChunks: [{}, web('v')] },
    ],
    [
      'a span outside of the text',
      { groundingChunks: [web('u')], groundingSupports: [support({ endIndex: 9 }, 0)] },
      { groundingChunks: [web('u')], groundingSupports: [support({ endIndex: 9 }, 0)] },
    ],
    ['what was searched for', { webSearchQueries: ['q'] }, { webSearchQueries: ['q'] }],
    [
      'a text that is not there',
      { groundingChunks: [web('u')], groundingSupports: [support({ endIndex: 1, text: 'y' }, 0)] },
      { groundingSupports: [{ segment: { text: 'y' } }] },
    ],
  ])('leaves %s undecoded', (_, grounding, left) => {
    expect(decodeGrounding(grounding as Record<string, unknown>, [response('x')]).left).toEqual(
      left,
    )
  })
})

describe('encoding grounding', () => {
  const cite = (more: Partial<Citation>): Citation => ({
    kind: 'url',
    url: 'u',
    title: 't',
    protocol: 'elsewhere',
    raw: {},
    ...more,
  })
  const write = (...texts: { text: string; citations: Citation[] }[]) => {
    const lost: unknown[] = []
    return { grounding: encodeGrounding(texts, (text, loss) => lost.push([text, loss])), lost }
  }

  test('writes offsets in bytes of the complete response, with the text of the span', () => {
    const { grounding, lost } = write(
      { text: 'ü', citations: [] },
      { text: '🙂b', citations: [cite({ start: 0, end: 1 })] },
    )
    expect(grounding).toEqual({
      groundingChunks: [web('u')],
      groundingSupports: [support({ startIndex: 2, endIndex: 6, text: '🙂' }, 0)],
    })
    expect(lost).toEqual([])
  })

  test('lists a source once when it is cited several times', () => {
    const { grounding } = write({
      text: 'ab',
      citations: [
        cite({ start: 0, end: 1 }),
        cite({ start: 1, end: 2 }),
        cite({ url: 'v', start: 1, end: 2 }),
      ],
    })
    expect(grounding).toMatchObject({
      groundingChunks: [web('u'), web('v')],
      groundingSupports: [{ groundingChunkIndices: [0] }, { groundingChunkIndices: [0, 1] }],
    })
  })

  test.each<[what: string, citation: Partial<Citation>, loss: unknown[]]>([
    ['without a span', {}, []],
    ['with a text of its source', { citedText: 'cited', start: 0, end: 1 }, [[0, 'some']]],
    ['of a place in a document', { kind: 'document', start: 0, end: 1 }, [[0, 'all']]],
  ])('notes what is dropped of one %s', (_, citation, loss) => {
    expect(write({ text: 'a', citations: [cite(citation)] }).lost).toEqual(loss)
  })

  test('restores decoded grounding', () => {
    const grounding = {
      groundingChunks: [web('u')],
      groundingSupports: [support({ startIndex: 1, endIndex: 5, text: '🙂' }, 0)],
    }
    const { found } = decodeGrounding(grounding, [response('a🙂b')])
    expect(
      write({ text: 'a🙂b', citations: found.map(({ citation }) => citation) }).grounding,
    ).toEqual(grounding)
  })
})

test.each([
  [
    'maps',
    {
      uri: 'https://maps.example/?cid=1',
      title: 'Cafe',
      placeId: 'places/abc',
      text: 'Good coffee',
    },
    ['placeId', 'text'],
  ],
  ['web', { uri: 'https://a.example', title: 'A', domain: 'a.example' }, ['domain']],
])('notes only what a citation does not hold when a %s chunk became one', (kind, source, lost) => {
  const body = {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'Hi there' }] },
        finishReason: 'STOP',
        groundingMetadata: {
          groundingChunks: [{ [kind]: source }],
          groundingSupports: [{ segment: { endIndex: 2, text: 'Hi' }, groundingChunkIndices: [0] }],
        },
      },
    ],
  }
  const { body: wire, notes } = translateResponse(body, {
    from: 'generate-content',
    to: 'responses',
    now: 1,
    model: 'm',
  })
  expect(JSON.stringify(wire)).toContain(source.uri)
  const chunk = `/candidates/0/groundingMetadata/groundingChunks/0/${kind}`
  expect(notes.filter(({ path }) => path.startsWith(chunk)).map(({ path }) => path)).toEqual(
    lost.map(key => `${chunk}/${key}`),
  )
})
