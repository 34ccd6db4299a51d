import { writeFileSync } from 'node:fs'
import { configSchema } from '../../src/gateway/options.ts'

/** The file that editors read, and its content as the code says now. */
export const schemaFile = new URL('../../docs/config.schema.json', import.meta.url)
export const schemaText = () => `${JSON.stringify(configSchema(), null, 2)}\n`

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(schemaFile, schemaText())
