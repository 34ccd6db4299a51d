import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = 'https://git.example/owner/wireglot'
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string
}

/** Checks a copy of what it reads. */
function checked(variables: Record<string, string>, { changelog = '' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'release-'))
  for (const name of ['package.json', 'CHANGELOG.md', 'docs/deploy'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  if (changelog) writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
  const { GITHUB_REF_NAME: _, WIREGLOT_REPOSITORY: __, ...env } = process.env
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'test/tools/release.mjs')], {
    cwd: folder,
    env: { ...env, ...variables },
    encoding: 'utf8',
  })
  return { status, stderr, read: (name: string) => readFileSync(join(folder, name), 'utf8') }
}

describe('the check of a release', () => {
  test('fails while the address of the repository is unset, and changes nothing', () => {
    const { status, stderr, read } = checked({})
    expect(status).toBe(1)
    expect(stderr.match(/set WIREGLOT_REPOSITORY/g)).toHaveLength(3)
    expect(read('package.json')).toBe(readFileSync(join(root, 'package.json'), 'utf8'))
  })

  test('writes the address wherever it belongs', () => {
    const { status, stderr, read } = checked({ WIREGLOT_REPOSITORY: page })
    expect([status, stderr]).toEqual([0, ''])
    expect(JSON.parse(read('package.json'))).toMatchObject({
      repository: { type: 'git', url: `git+${page}.git` },
      homepage: `${page}#readme`,
      bugs: `${page}/issues`,
    })
    expect(parse(read('docs/deploy/chart/Chart.yaml'))).toMatchObject({
      home: page,
      sources: [page],
    })
    expect(read('docs/deploy/Dockerfile')).toContain(`image.source=${page}\n`)
  })

  test.each(['https://git.example/', 'http://git.example/owner/wireglot', `${page}/`, ''])(
    'fails with %j, which is no page of a repository',
    WIREGLOT_REPOSITORY => {
      const { status, stderr } = checked({ WIREGLOT_REPOSITORY })
      expect(status).toBe(1)
      expect(stderr).toContain('expected https://HOST/PATH')
    },
  )

  test('fails when the tag is of another version, or the changelog does not know it', () => {
    const set = { WIREGLOT_REPOSITORY: page }
    expect(checked({ ...set, GITHUB_REF_NAME: `v${version}` }).status).toBe(0)
    expect(checked({ ...set, GITHUB_REF_NAME: 'v99.0.0' }).stderr).toContain('v99.0.0')
    const { stderr } = checked(set, { changelog: '# Changelog\n\n## 99.0.0\n' })
    expect(stderr).toContain(`nothing about ${version}`)
  })
})

describe('the workflow of a release', () => {
  const { jobs, env } = parse(
    readFileSync(join(root, '.github/workflows/publish.yml'), 'utf8'),
  ) as {
    env: Record<string, string>
    jobs: Record<
      string,
      { needs?: string; steps: { uses?: string; run?: string; with?: Record<string, unknown> }[] }
    >
  }
  const runs = (job: string) => jobs[job]?.steps.flatMap(({ run }) => run ?? []) ?? []

  test('publishes the package first, then the image and the chart, each after the check', () => {
    expect(Object.keys(jobs)).toEqual(['publish', 'containers'])
    expect(env).toHaveProperty('WIREGLOT_REPOSITORY')
    expect(jobs['containers']?.needs).toBe('publish')
    for (const job of Object.keys(jobs)) expect(runs(job)).toContain('npm run check:release')
    expect(runs('publish').at(-1)).toContain('npm publish --provenance')
    const image = jobs['containers']?.steps.find(({ uses }) =>
      uses?.startsWith('docker/build-push'),
    )
    expect(image?.with).toMatchObject({ file: 'docs/deploy/Dockerfile', push: true })
    expect(runs('containers').at(-1)).toContain('helm push')
  })

  test('names the version of every action', () => {
    for (const { steps } of Object.values(jobs))
      for (const { uses } of steps) if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@v\d+(\.\d+)*$/)
  })

  test('gives the chart the image that it has published', () => {
    const lines = runs('containers').at(-1)?.split('\n') ?? []
    const sed = lines.find(line => line.startsWith('sed'))
    const folder = mkdtempSync(join(tmpdir(), 'chart-'))
    cpSync(join(root, 'docs'), join(folder, 'docs'), { recursive: true })
    execFileSync('sh', ['-ec', sed ?? 'false'], {
      cwd: folder,
      env: { ...process.env, OWNER: 'registry.example/owner' },
    })
    expect(
      parse(readFileSync(join(folder, 'docs/deploy/chart/values.yaml'), 'utf8')),
    ).toMatchObject({ image: { repository: 'registry.example/owner/wireglot' } })
  })
})
