import { parseArgs } from 'node:util'
import { isProtocolName } from '../../src/protocols/index.ts'
import { type VendorName, vendorNames } from '../../src/vendors/index.ts'
import { countsOf, drive, tableOf } from '../servers/drive.ts'

/**
 * Tries a real model server through the gateway, as clients of all protocols: `npm run test:servers
 * -- --base http://localhost:11434/v1 --vendor ollama`. Without a vendor, `--protocols` names what
 * the server speaks. Prints a table, and ends with 1 if anything fails.
 */
const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    vendor: { type: 'string' },
    protocols: { type: 'string' },
    model: { type: 'string' },
    'key-env': { type: 'string' },
  },
})
const { base, vendor, model } = values
if (base === undefined) throw new Error('--base is the URL of the server')
const isVendor = (text: string): text is VendorName => vendorNames.some(one => one === text)
if (vendor !== undefined && !isVendor(vendor))
  throw new Error(`--vendor is one of ${vendorNames.join(', ')}`)
const rows = await drive(
  {
    base,
    model,
    ...(vendor !== undefined && { vendor }),
    speaks: values.protocols?.split(',').filter(isProtocolName),
    key: process.env[values['key-env'] ?? ''],
  },
  ({ scenario }) => process.stderr.write(`${scenario}\n`),
)
const { ok, note, FAIL } = countsOf(rows)
console.log(`${tableOf(rows)}\n\n${ok} ok, ${note} with a note, ${FAIL} failed`)
process.exitCode = FAIL > 0 ? 1 : 0
