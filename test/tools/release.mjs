import { readFileSync, writeFileSync } from 'node:fs'

/**
 * `npm run check:release`, in the folder of the package: fails while something is missing that a
 * release needs. With WIREGLOT_REPOSITORY, the address of the repository's page, it first writes
 * this address wherever its placeholder stands. GITHUB_REF_NAME: the tag that is released.
 */
const placeholder = 'https://repository.invalid/owner/wireglot'
const files = ['package.json', 'docs/deploy/Dockerfile', 'docs/deploy/chart/Chart.yaml']

const { WIREGLOT_REPOSITORY: repository, GITHUB_REF_NAME: tag } = process.env
const faults = []

if (repository !== undefined && !/^https:\/\/[^/\s]+\/\S*[^/\s]$/.test(repository))
  faults.push(`WIREGLOT_REPOSITORY is ${repository}: expected https://HOST/PATH, no / at its end`)
else if (repository !== undefined)
  for (const file of files)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(placeholder, repository))

for (const file of files)
  if (readFileSync(file, 'utf8').includes(placeholder))
    faults.push(`${file} has ${placeholder}: set WIREGLOT_REPOSITORY to the repository's page`)

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
if (!readFileSync('CHANGELOG.md', 'utf8').includes(`\n## ${version}\n`))
  faults.push(`CHANGELOG.md says nothing about ${version}`)
if (tag !== undefined && tag !== `v${version}`)
  faults.push(`the tag is ${tag}, and the version ${version}`)

for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
