import { existsSync } from 'node:fs'

/** What users set for the programs under test, which would then use their keys and databases. */
const ofUser =
  /_API_KEY$|_AUTH_TOKEN$|^(WIREGLOT_(KEY|ADMIN_KEY|CONFIG)|DATABASE_URL|REDIS_URL)$|^(AWS|GOOGLE|AZURE)_/

// Before each test file, also for the processes that it starts.
for (const name of Object.keys(process.env)) if (ofUser.test(name)) delete process.env[name]
if (!existsSync(`${process.env['WIREGLOT_SHARED']}/corpus`)) delete process.env['WIREGLOT_SHARED']
