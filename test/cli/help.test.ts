import { expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { wireglot } from './support.ts'

test.each(['translate', 'collect', 'explode'])(
  'wireglot %s --help lists the protocols',
  async command => {
    const { out } = await wireglot([command, '--help'])
    for (const name of protocolNames) expect(out).toContain(name)
    expect(out.replaceAll(/\s+/g, ' ')).toContain(protocolNames.join(', '))
  },
)
