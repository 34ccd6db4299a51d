import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** Runs the command as people do. */
export function wireglot(args: string[], input: unknown = '', env: Record<string, string> = {}): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise(resolve => {
    const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], { env: { ...process.env, ...env } })
    let out = ''
    let err = ''
    child.stdout.on('data', chunk => {
      out += chunk
    })
    child.stderr.on('data', chunk => {
      err += chunk
    })
    child.on('close', code => resolve({ code, out, err }))
    child.stdin.end(typeof input === 'string' ? input : JSON.stringify(input))
  })
}
