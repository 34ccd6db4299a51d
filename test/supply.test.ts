import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** What users of the library install with it. */

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const { dependencies, scripts } = JSON.parse(read('../package.json')) as {
  dependencies: Record<string, string>
  scripts: Record<string, string>
}
type Locked = {
  dev?: boolean
  link?: boolean
  integrity?: string
  resolved?: string
  hasInstallScript?: boolean
}
const { packages } = JSON.parse(read('../package-lock.json')) as {
  packages: Record<string, Locked>
}
const production = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)

test('docs/contributing.md gives a reason for every package, and for no other', () => {
  const [, table = ''] = read('../docs/contributing.md').split('## Packages at run time')
  const rows = [...table.matchAll(/^\| (\S+) \| (.+) \|$/gm)].filter(
    ([, name]) => name !== 'package' && name !== '---',
  )
  expect(rows.map(([, name]) => name).toSorted()).toEqual(Object.keys(dependencies).toSorted())
  for (const [, name, why] of rows) expect(why?.length, name).toBeGreaterThan(15)
})

test('the dependency tree has the documented size', () => {
  const names = new Set(production.map(([path]) => path.replace(/^.*node_modules\//, '')))
  expect(names.size).toBeLessThanOrEqual(15)
  expect(read('../docs/contributing.md')).toContain(`${names.size} packages in all`)
})

test('pins every package by its hash, and none has an install script', () => {
  for (const [path, { integrity, resolved, hasInstallScript }] of production) {
    expect(integrity, path).toMatch(/^sha512-/)
    // From the registry that is configured, whichever that is; the sum above says what must come.
    expect(resolved, path).toBeUndefined()
    expect(hasInstallScript ?? false, path).toBe(false)
  }
  expect(Object.keys(scripts)).not.toContain('postinstall')
})

test('publishing includes provenance', () => {
  const workflow = read('../.github/workflows/publish.yml')
  expect(workflow).toContain('npm publish --provenance')
  expect(workflow).toContain('id-token: write')
  expect(workflow).toContain('npm audit --omit=dev')
})
