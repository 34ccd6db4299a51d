import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { programOptions } from '../support/programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

let built: Promise<Built> | undefined

/** `main`: the built command. `empty`: a folder without any file, which is also the home. */
type Built = { main: string; empty: string }

/** It is built once in each worker: to compile it for each call took ten times as long. */
async function build(): Promise<Built> {
  const folder = mkdtempSync(join(tmpdir(), 'wireglot-cli-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await esbuild.build({
    ...programOptions,
    entryPoints: [join(root, 'src/cli/main.ts')],
    outdir: folder,
  })
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  return { main: join(folder, 'main.mjs'), empty }
}

/** A folder for PATH with `npx`, as a reader has it whose PATH has no `wireglot`. */
export async function binWithNpx(): Promise<string> {
  built ??= build()
  const { main, empty } = await built
  const folder = mkdtempSync(join(empty, '../bin-'))
  const script = `#!/bin/sh\n[ "$1" = wireglot ] || exit 127\nshift\nexec '${process.execPath}' '${main}' "$@"\n`
  writeFileSync(join(folder, 'npx'), script, { mode: 0o755 })
  return folder
}

type Ran = { code: number | null; out: string; err: string }

/** Runs the command as people do, in an empty folder with no variables but these. */
export function wireglot(
  args: string[],
  input: unknown = '',
  env: Record<string, string> = {},
): Promise<Ran> {
  return ran(args, input, { env }, false)
}

/** The same before a program that reads the beginning of its output, as `head` does. */
export function wireglotBeforeHead(args: string[], input: unknown): Promise<Ran> {
  return ran(args, input, {}, true)
}

/**
 * The variables that are set, and the folder. Default: few, and an empty one. `shell`: a shell
 * starts the command and waits for it, as npm has it.
 */
export type Place = { env?: Record<string, string>; folder?: string; shell?: true }

/** Runs it in a place. */
export function wireglotIn(place: Place, args: string[], input: unknown = ''): Promise<Ran> {
  return ran(args, input, place, false)
}

/** Starts it in a place, for tests that send it signals. */
export async function start(args: string[], place: Place = {}): Promise<ChildProcess> {
  built ??= build()
  const { main, empty } = await built
  const { PATH = '', TMPDIR = tmpdir() } = process.env
  const command = [process.execPath, main, ...args]
  const shell = place.shell ? ['sh', '-c', '"$@"; exit $?', 'sh'] : []
  const [program = '', ...rest] = [...shell, ...command]
  return spawn(program, rest, {
    cwd: place.folder ?? empty,
    env: { PATH, TMPDIR, HOME: empty, ...place.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

async function ran(
  args: string[],
  input: unknown,
  place: Place,
  isBeforeHead: boolean,
): Promise<Ran> {
  const child = await start(args, place)
  return new Promise(resolve => {
    let out = ''
    let err = ''
    child.stdout?.on('data', chunk => {
      out += chunk
      if (isBeforeHead) child.stdout?.destroy()
    })
    child.stderr?.on('data', chunk => {
      err += chunk
    })
    child.on('close', code => resolve({ code, out, err }))
    // A command that refuses its arguments may end before.
    child.stdin?.on('error', () => {})
    child.stdin?.end(typeof input === 'string' ? input : JSON.stringify(input))
  })
}

/** The record of a request with so many tokens. */
export const recordOf = ({
  tokens,
  ...more
}: Partial<UsageRecord> & { tokens: number }): UsageRecord => ({
  time: new Date().toISOString(),
  requestId: `req_${Math.random()}`,
  channel: 'up',
  modelServed: 'm',
  protocolIn: 'messages',
  stream: false,
  status: 200,
  usage: { input: tokens, output: 0 },
  totalMs: 5,
  attempts: 1,
  notes: 0,
  ...more,
})
