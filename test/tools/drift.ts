import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelNamesIn, unlistedModels } from '../drift/models.ts'
import { neither } from '../drift/neither.ts'
import { faultsOf, rowsOf, sectionOf } from '../drift/report.ts'
import { roots } from '../drift/roots.ts'

// `npm run drift`: compares the newest official type definitions with what wireglot translates, and
// writes docs/drift.md. `npm run drift -- --models`: lists the models that they name and the tables
// of src/models do not.

const place = mkdtempSync(join(tmpdir(), 'drift-'))
const npm = (...words: string[]) =>
  execFileSync('npm', [...words, '--silent'], { cwd: place, encoding: 'utf8' }).trim()

/**
 * The definitions alone, without what the package depends on: the version is named so that npm does
 * not choose one for this Node.
 */
function fetchDefinitions(name: string): string {
  const version = npm('view', name, 'version')
  const file = npm('pack', `${name}@${version}`).split('\n').at(-1) ?? ''
  const folder = join(place, 'node_modules', name)
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-xzf', join(place, file), '-C', folder, '--strip-components=1'])
  return version
}

const packages = [...new Set(roots.map(root => root.package))]

/** Prints the models that the definitions name and the tables do not list. */
function listModels(): void {
  for (const name of packages) {
    const version = fetchDefinitions(name)
    const folder = join(place, 'node_modules', name)
    const text = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.d.ts'))
      .map(file => readFileSync(join(folder, file), 'utf8'))
      .join('\n')
    console.log(`${name} ${version}`)
    for (const { name: model, row } of unlistedModels(modelNamesIn(text)))
      console.log(`  ${model}${row === undefined ? '' : `: taken for ${row}`}`)
  }
}

function writeDrift(): void {
  const versions = new Map(packages.map(name => [name, fetchDefinitions(name)]))
  const results = roots.map(root => {
    const file = join(place, `${root.protocol}.ts`)
    writeFileSync(file, root.types)
    return { root, rows: rowsOf(root, file) }
  })
  const text = [
    '# Drift of the published definitions',
    '',
    '`npm run drift` writes this page. It walks the type definitions of the official SDKs, puts each field, value and type into a minimal body, and translates that body. It checks whether the value comes out or a note points at it, and fails if neither is true.',
    '',
    'The tables list what is not mapped everywhere. A definition that appears in several places is checked where it appears first, and the contents of a part that is noted as a whole are left out. Within its own protocol every field passes unchanged.',
    '',
    ...results.flatMap(({ root, rows }) => sectionOf(root, versions.get(root.package) ?? '', rows)),
  ]
  writeFileSync(new URL('../../docs/drift.md', import.meta.url), text.join('\n'))
  const faults = results.flatMap(({ root, rows }) =>
    faultsOf(rows).map(
      row =>
        `${root.protocol} ${row.kind}: ${row.name} at ${row.path || '/'} (${row.verdicts.join(', ')})`,
    ),
  )
  const used = new Set(results.flatMap(({ rows }) => rows.flatMap(({ reason }) => reason ?? [])))
  const idle = neither
    .filter(({ reason }) => !used.has(reason))
    .map(({ name }) => `no longer needed in neither.ts: ${name}`)
  for (const line of [...faults, ...idle]) console.error(line)
  console.log(
    `${[...versions].map(([name, version]) => `${name} ${version}`).join(', ')}: ${faults.length} would be lost`,
  )
  if (faults.length + idle.length > 0) process.exitCode = 1
}

try {
  if (process.argv.includes('--models')) listModels()
  else writeDrift()
} finally {
  rmSync(place, { recursive: true, force: true })
}
