import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

/** A field of a certificate: tag, length and content, as DER has them. */
function der(tag: number, ...content: Uint8Array[]): Buffer {
  const inner = Buffer.concat(content)
  const { length } = inner
  return Buffer.concat([Buffer.from([tag, ...sizeOf(length)]), inner])
}

function sizeOf(length: number): number[] {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}

const sequence = (...content: Uint8Array[]) => der(0x30, ...content)
const text = (tag: number, value: string) => der(tag, Buffer.from(value))
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const time = (ms: number) => text(0x17, new Date(ms).toISOString().replace(/^..|[-:T]|\.\d+/g, ''))

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const commonName = sequence(der(0x31, sequence(oid('550403'), text(0x0c, 'localhost'))))
const hour = 3_600_000

/** A self-signed certificate for this machine, and its key, both as PEM. */
export function selfSigned(): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  // DNS:localhost and IP:127.0.0.1.
  const names = sequence(text(0x82, 'localhost'), der(0x87, Buffer.from([127, 0, 0, 1])))
  const extensions = sequence(sequence(oid('551d11'), der(0x04, names)))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    commonName,
    sequence(time(Date.now() - hour), time(Date.now() + 24 * hour)),
    commonName,
    publicKey,
    der(0xa3, extensions),
  )
  const signature = createSign('SHA256').update(body).sign(privateKey)
  const bytes = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey,
  }
}
