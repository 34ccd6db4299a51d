import { describe, expect, test } from 'vitest'
import { wireglot } from './support.ts'

describe('wireglot address', () => {
  test('prints the right address for each usage, and exits with 1 when the given one is wrong', async () => {
    const { code, out } = await wireglot(['address', 'https://gw.example/v1/chat/completions'])
    expect(code).toBe(1)
    expect(out).toMatch(/wrong: A full endpoint is never a base address/)
    expect(out).toMatch(
      /adds only the endpoint is given\n {2}https:\/\/gw\.example\/v1 +chat-completions, responses, messages/,
    )
    expect(out).toMatch(/models +https:\/\/gw\.example\/v1\/models/)
  })

  test('exits with 0 when the address is right for the requested usage', async () => {
    const { code, out } = await wireglot([
      'address',
      'https://gw.example/v1',
      '--protocol',
      'responses',
      '--appends',
      'endpoint',
      '--json',
    ])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      root: 'https://gw.example',
      address: 'https://gw.example/v1',
      faults: [],
    })
  })

  test('refuses an incomplete usage', async () => {
    expect((await wireglot(['address', 'https://gw.example', '--protocol', 'messages'])).code).toBe(
      2,
    )
  })
})
