import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

type Ran = { code: number | null; out: string; err: string }

/** Runs the command as people do. */
export function wireglot(args: string[], input: unknown = '', env: Record<string, string> = {}): Promise<Ran> {
  return ran(args, input, env, false)
}

/** The same before a program that reads the beginning of its output, as `head` does. */
export function wireglotBeforeHead(args: string[], input: unknown): Promise<Ran> {
  return ran(args, input, {}, true)
}

function ran(args: string[], input: unknown, env: Record<string, string>, isBeforeHead: boolean): Promise<Ran> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], { env: { ...process.env, ...env } })
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
