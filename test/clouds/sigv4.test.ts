import { SignatureV4 } from '@smithy/signature-v4'
import { AwsV4Signer } from 'aws4fetch'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeOf, sign } from '../../src/clouds/aws.ts'
import type { TransportCall } from '../../src/transports/transport.ts'
import { runs } from '../support/runs.ts'
import vectors from './sigv4-vectors.json' with { type: 'json' }
import { sha256 } from './support.ts'

const keys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const time = Date.UTC(2015, 7, 30, 12, 36, 0)

const callOf = (
  url: string,
  { method = 'POST', type, body }: { method?: string; type?: string; body?: string },
): TransportCall => ({
  url,
  method: method as 'POST',
  headers: {
    'user-agent': 'wireglot',
    accept: 'application/json',
    ...(type !== undefined && { 'content-type': type }),
  },
  body,
  signal: new AbortController().signal,
  connectMs: 0,
})

const signatureIn = (headers: Record<string, string>) =>
  /SignedHeaders=([^,]*), Signature=(.*)$/.exec(headers['authorization'] ?? '')?.slice(1)

// The suite encodes paths once, as for services whose paths are not encoded when they are sent.
test.each(vectors.suite)(
  'the signer produces the published vector $name',
  async ({ method, url, headers, body, signed, signature }) => {
    const signer = new AwsV4Signer({
      ...keys,
      method,
      url: `https://example.amazonaws.com${url}`,
      headers: headers as Record<string, string>,
      ...(body !== undefined && { body }),
      service: 'service',
      region: 'us-east-1',
      datetime: '20150830T123600Z',
      allHeaders: true,
      singleEncode: true,
    })
    const { headers: out } = await signer.sign()
    expect(signatureIn(Object.fromEntries(out))).toEqual([signed, signature])
  },
)

test.each(vectors.bedrock)(
  'signs a call like the vector $name',
  async ({ url, type, body, signed, signature }) => {
    const call = callOf(url, { body, ...(type !== undefined && { type }) })
    const place = placeOf(url, {})
    const { headers } = await sign(AwsV4Signer, call, { ...keys, ...place, time })
    expect(signatureIn(headers)).toEqual([signed, signature])
    expect(headers).toMatchObject({
      'user-agent': 'wireglot',
      accept: 'application/json',
      'x-amz-date': '20150830T123600Z',
    })
  },
)

test('signs any path and body like the AWS signer', async () => {
  const word = fc.string({
    unit: fc.constantFrom(..."abcXYZ019-._~:!*()'@+ %é"),
    minLength: 1,
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(
      word,
      fc.string({ unit: 'binary' }),
      fc.option(fc.constant('to+ken/=')),
      async (model, body, token) => {
        const path = `/model/${encodeURIComponent(model)}/converse`
        const host = 'bedrock-runtime.eu-central-1.amazonaws.com'
        const call = callOf(`https://${host}${path}`, { body, type: 'application/json' })
        const place = placeOf(call.url, {})
        const ours = await sign(AwsV4Signer, call, {
          ...keys,
          ...(token !== null && { sessionToken: token }),
          ...place,
          time,
        })
        const credentials = { ...keys, ...(token !== null && { sessionToken: token }) }
        const signer = new SignatureV4({
          credentials,
          region: 'eu-central-1',
          service: 'bedrock',
          sha256,
          applyChecksum: false,
        })
        const headers = { host, 'content-type': 'application/json' }
        const request = {
          method: 'POST',
          protocol: 'https:',
          hostname: host,
          path,
          query: {},
          headers,
          body,
        }
        const theirs = await signer.sign(request, { signingDate: new Date(time) })
        expect(ours.headers['authorization']).toBe(theirs.headers['authorization'])
      },
    ),
    runs(300),
  )
})

test.each([
  [
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke',
    { region: 'us-east-1', service: 'bedrock' },
  ],
  [
    'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com/model/m/invoke',
    { region: 'us-gov-west-1', service: 'bedrock' },
  ],
  [
    'https://vpce-0a1b.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com/model/m/invoke',
    { region: 'ap-southeast-2', service: 'bedrock' },
  ],
  [
    'https://bedrock-mantle.eu-west-1.api.aws/v1/responses',
    { region: 'eu-west-1', service: 'bedrock-mantle' },
  ],
])('finds region and service in %s', (url, place) => {
  expect(placeOf(url, {})).toEqual(place)
})

test('names the setting when the region is unknown', () => {
  expect(() => placeOf('https://gateway.example/model/m/invoke', {})).toThrow(
    'set "region" in "aws"',
  )
  expect(
    placeOf('https://gateway.example/model/m/invoke', { region: 'us-east-2', service: 'x' }),
  ).toEqual({ region: 'us-east-2', service: 'x' })
})
