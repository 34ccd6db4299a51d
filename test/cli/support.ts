import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'
import { programOptions } from '../support/programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

let built: Promise<string> | undefined

/** The built command. It is built once in each worker: to compile it for each call took ten times as long. */
async function build(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'wireglot-cli-'))
  process.on('exit', () => rmSync(folder, { recursive: true }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await esbuild.build({
    ...programOptions,
    entryPoints: [join(root, 'src/cli/main.ts')],
    outdir: folder,
  })
  return join(folder, 'main.mjs')
}

type Ran = { code: number | null; out: string; err: string }

/** Runs the command as people do. */
export function wireglot(
  args: string[],
  input: unknown = '',
  env: Record<string, string> = {},
): Promise<Ran> {
  return ran(args, input, env, false)
}

/** The same before a program that reads the beginning of its output, as `head` does. */
export function wireglotBeforeHead(args: string[], input: unknown): Promise<Ran> {
  return ran(args, input, {}, true)
}

async function ran(
  args: string[],
  input: unknown,
  env: Record<string, string>,
  isBeforeHead: boolean,
): Promise<Ran> {
  built ??= build()
  const main = await built
  return new Promise(resolve => {
    const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...env } })
    let out = ''
    let err = ''
    child.stdout.on('data', chunk => {
      out += chunk
      if (isBeforeHead) child.stdout.destroy()
    })
    child.stderr.on('data', chunk => {
      err += chunk
    })
    child.on('close', code => resolve({ code, out, err }))
    child.stdin.end(typeof input === 'string' ? input : JSON.stringify(input))
  })
}
