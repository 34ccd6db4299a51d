import { expect, test } from 'vitest'
import { dataUrl, parseDataUrl } from '../../src/kit/media/data-url.ts'

const bytes = (...all: (number | string)[]) =>
  Buffer.concat(
    all.map(one => (typeof one === 'string' ? Buffer.from(one, 'latin1') : Buffer.from([one]))),
  ).toString('base64')
const png = bytes(0x89, 'PNG\r\n\x1a\n', 'rest')
const webp = bytes('RIFF', 0xff, 1, 0, 0, 'WEBPVP8 ')

test.each<[seen: string, url: string, read: ReturnType<typeof parseDataUrl>]>([
  ['type and bytes', `data:image/webp;base64,${webp}`, { mime: 'image/webp', data: webp }],
  ['an unregistered type', `data:image/jpg;base64,${png}`, { mime: 'image/jpeg', data: png }],
  ['upper case', `DATA:Image/PNG;BASE64,${png}`, { mime: 'image/png', data: png }],
  [
    'a parameter that adds nothing to an image',
    `data:image/png;charset=utf-8;base64,${png}`,
    { mime: 'image/png', data: png },
  ],
  [
    'a parameter with the encoding of a text',
    'data:text/plain;charset=latin1;base64,5A==',
    { mime: 'text/plain;charset=latin1', data: '5A==' },
  ],
  ['no type, a PNG', `data:;base64,${png}`, { mime: 'image/png', data: png }],
  [
    'no type, a JPEG',
    `data:;base64,${bytes(0xff, 0xd8, 0xff, 0xe0)}`,
    { mime: 'image/jpeg', data: '/9j/4A==' },
  ],
  ['no type, a GIF', `data:;base64,${bytes('GIF89a')}`, { mime: 'image/gif', data: 'R0lGODlh' }],
  ['no type, a WebP', `data:;base64,${webp}`, { mime: 'image/webp', data: webp }],
  [
    'no type, a PDF',
    `data:;base64,${bytes('%PDF-1.7')}`,
    { mime: 'application/pdf', data: bytes('%PDF-1.7') },
  ],
  [
    'no type, and nothing known',
    `data:;base64,${bytes('RIFF....WAVE')}`,
    { data: bytes('RIFF....WAVE') },
  ],
  [
    'percent-encoded bytes',
    'data:image/png,%89PNG%0D%0A%1A%0Arest',
    { mime: 'image/png', data: png },
  ],
  [
    'percent-encoded text with commas, letters of all kinds and a stray percent',
    'data:,a%2Cb,ü 100%',
    { data: Buffer.from('a,b,ü 100%').toString('base64') },
  ],
  ['no data', 'data:image/png', undefined],
  ['another address', 'https://a.test/data:,x', undefined],
  ['a damaged type', `data:imag\uFFFD;base64,${png}`, { mime: 'image/png', data: png }],
])('a data URL: %s', (_, url, read) => expect(parseDataUrl(url)).toEqual(read))

test('a data URL is restored unchanged, and plainly once it is edited', () => {
  const came = `DATA:;base64,${png}`
  expect(dataUrl('image/png', png, came)).toBe(came)
  expect(dataUrl('image/png', webp, came)).toBe(`data:image/png;base64,${webp}`)
  expect(dataUrl('image/gif', png, came)).toBe(`data:image/gif;base64,${png}`)
})
