import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { type Vendor, vendors } from '../../src/vendors/index.ts'
import { start } from './support.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (name: string) => readFileSync(`${root}/docs/deploy/${name}`, 'utf8')

function works(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 5000 })
    return true
  } catch {
    return false
  }
}
/** Is there an engine to build with? The client alone is not enough. */
const hasDocker = works('docker', 'info')
const hasHelm = works('helm', 'version')

describe('the Dockerfile', () => {
  const steps = read('Dockerfile')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter(line => line && !line.startsWith('#'))
    .map(line => ({ word: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }))
  const last = steps.slice(steps.findLastIndex(({ word }) => word === 'FROM'))
  const of = (word: string) => last.filter(step => step.word === word).map(({ rest }) => rest)

  test('uses only words that Docker knows', () => {
    const known = [
      'ARG',
      'FROM',
      'LABEL',
      'WORKDIR',
      'COPY',
      'RUN',
      'VOLUME',
      'USER',
      'ENV',
      'EXPOSE',
      'HEALTHCHECK',
      'ENTRYPOINT',
      'CMD',
    ]
    expect(steps.map(({ word }) => word).filter(word => !known.includes(word))).toEqual([])
  })

  test('names the exact version and bytes of its base, and the versions of the databases', () => {
    const bases = steps.filter(({ word }) => word === 'FROM').map(({ rest }) => rest)
    expect(bases).toHaveLength(2)
    for (const base of bases)
      expect(base).toMatch(/^(--platform=\$BUILDPLATFORM )?\$\{NODE_IMAGE\}( AS build)?$/)
    const [base] = steps.filter(({ word }) => word === 'ARG').map(({ rest }) => rest)
    expect(base).toMatch(/^NODE_IMAGE=node:\d+\.\d+\.\d+-alpine@sha256:[0-9a-f]{64}$/)
    const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as {
      packages: Record<string, { version: string }>
    }
    // Those that the tests run with.
    for (const name of ['kysely', 'libsql', 'pg'])
      expect(of('RUN').join()).toContain(` ${name}@${packages[`node_modules/${name}`]?.version} `)
  })

  test('runs without root, and has a health check', () => {
    expect(of('USER')).toEqual(['node'])
    expect(of('HEALTHCHECK').join()).toContain('/health')
    // The port that the gateway listens on.
    expect(of('HEALTHCHECK').join()).toContain('process.env.WIREGLOT_PORT')
    expect(of('ENV')).toContain('WIREGLOT_PORT=4000')
    expect(of('CMD').join()).not.toContain('--port')
    // Nothing runs as root after the user changed.
    expect(last.findIndex(({ word }) => word === 'USER')).toBeGreaterThan(
      last.findLastIndex(({ word }) => word === 'RUN'),
    )
  })

  test('starts what the package starts, as lists that need no shell', () => {
    const { bin } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
      bin: { wireglot: string }
    }
    expect(JSON.parse(of('ENTRYPOINT').join())).toEqual([
      'node',
      `/app/node_modules/wireglot/${bin.wireglot.replace('./', '')}`,
    ])
    expect(JSON.parse(of('CMD').join())[0]).toBe('serve')
    expect(
      JSON.parse(
        of('HEALTHCHECK')
          .join()
          .replace(/^.*CMD /, ''),
      )[0],
    ).toBe('node')
  })
})

describe('compose.yaml', () => {
  const { services, volumes } = parse(read('compose.yaml')) as {
    services: Record<
      string,
      {
        image?: string
        build?: { dockerfile: string }
        depends_on?: Record<string, { condition: string }>
        healthcheck?: object
        environment?: Record<string, string>
        env_file?: { path: string; required: boolean }[]
        volumes?: string[]
      }
    >
    volumes: Record<string, unknown>
  }

  test('has the gateway, PostgreSQL and Redis, and waits until they are healthy', () => {
    expect(Object.keys(services)).toEqual(['wireglot', 'postgres', 'redis'])
    for (const [name, { condition }] of Object.entries(services['wireglot']?.depends_on ?? {})) {
      expect(condition).toBe('service_healthy')
      expect(services[name]?.healthcheck).toBeDefined()
    }
    expect(services['wireglot']?.build?.dockerfile).toBe('docs/deploy/Dockerfile')
  })

  test('names versions, and volumes that exist', () => {
    for (const { image } of Object.values(services))
      if (image)
        expect(image).toMatch(/^\$\{\w+_IMAGE:-\w+:\d+\.\d+(\.\d+)?-alpine@sha256:[0-9a-f]{64}\}$/)
    for (const { volumes: used = [] } of Object.values(services))
      for (const one of used) expect(Object.keys(volumes)).toContain(one.split(':')[0])
  })

  test('takes the keys of every provider from one file, which nothing overrides', () => {
    const { env_file = [], environment = {} } = services['wireglot'] ?? {}
    expect(env_file).toEqual([{ path: 'providers.env', required: false }])
    const all: Vendor[] = Object.values(vendors)
    const keys = all.flatMap(({ keyVariable }) => keyVariable ?? [])
    // It stays out of git and of the image.
    expect(readFileSync(`${root}/.gitignore`, 'utf8')).toContain('*.env')
    expect(read('Dockerfile.dockerignore')).toContain('**/*.env')
    expect(keys.filter(name => name in environment)).toEqual([])
  })

  test('holds no secret, and no password by default', () => {
    for (const { environment = {} } of Object.values(services))
      for (const [name, value] of Object.entries(environment)) {
        if (/KEY|PASSWORD/.test(name)) expect(value).toMatch(/^\$\{\w+:(\?.*|-)\}$/)
        if (name === 'DATABASE_URL') expect(value).toMatch(/:\$\{POSTGRES_PASSWORD:\?/)
      }
  })
})

describe('the Helm chart', () => {
  const template = read('chart/templates/gateway.yaml')
  const values = parse(read('chart/values.yaml')) as Record<string, unknown>

  test('uses only values that it describes, and all of them', () => {
    const used = [...template.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = '']) =>
      path.split('.').slice(1),
    )
    for (const path of used) {
      const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], values)
      expect(value, path.join('.')).toBeDefined()
    }
    expect(new Set(used.map(([first]) => first))).toEqual(new Set(Object.keys(values)))
  })

  test('starts the image as it starts itself', () => {
    const [, cmd = ''] = /^CMD (.*)$/m.exec(read('Dockerfile')) ?? []
    const [, args = ''] = /args: \[(.*?)\{\{/.exec(template) ?? []
    expect(args.split(', ')).toEqual(JSON.parse(cmd))
    expect(template).toContain('containerPort: 4000')
    // That of a service with this name would be no port.
    expect(template).toContain('enableServiceLinks: false')
  })

  const rendered = (...args: string[]) =>
    parseAllDocuments(
      execFileSync(
        'helm',
        ['template', 'wireglot', 'docs/deploy/chart', '--set', 'image.repository=r', ...args],
        { cwd: root, encoding: 'utf8' },
      ),
    ).map(document => document.toJS() as { kind: string; data?: Record<string, string> })

  // Needs the program helm.
  test.skipIf(!hasHelm)('renders, with a configuration that is JSON', () => {
    expect(rendered().map(({ kind }) => kind)).toEqual(['Service', 'Deployment'])
    const all = rendered('--set', 'volume.enabled=true,secret=s,config.channels[0].vendor=openai')
    expect(all.map(({ kind }) => kind).toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'PersistentVolumeClaim',
      'Service',
    ])
    const config =
      all.find(({ kind }) => kind === 'ConfigMap')?.data?.['wireglot.config.json'] ?? ''
    expect(JSON.parse(config)).toEqual({ channels: [{ vendor: 'openai' }] })
  })
})

test('serve listens on the port of WIREGLOT_PORT', async () => {
  const listening = async (args: string[]) => {
    const child = await start(['serve', '--no-records', ...args], { env: { WIREGLOT_PORT: '0' } })
    let out = ''
    for await (const chunk of child.stdout ?? []) {
      out += String(chunk)
      if (out.includes('listening on')) child.kill('SIGTERM')
    }
    return /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(out)?.[1]
  }
  expect(Number(await listening([]))).toBeGreaterThan(10_000)
})

// Needs an engine: here there may be only the client, or none.
test.skipIf(!hasDocker)(
  'the image builds and becomes healthy',
  () => {
    const compose = (...args: string[]) =>
      execFileSync('docker', ['compose', '-f', 'docs/deploy/compose.yaml', ...args], {
        cwd: root,
        env: {
          ...process.env,
          WIREGLOT_ADMIN_KEY: 'a-secret-of-this-test',
          POSTGRES_PASSWORD: 'password',
        },
      })
    try {
      compose('up', '--build', '--wait')
    } finally {
      compose('down', '--volumes')
    }
  },
  600_000,
)
