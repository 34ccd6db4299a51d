import { loadEnvFile } from 'node:process'

export const envFileOption = [
  '--env-file <file>',
  'set environment variables from a file such as .env; those that are set already stay',
] as const

/**
 * Node 20 does this too, before the command starts, and then exits with 9 for a missing file.
 * @throws Error with the file and the reason
 */
export function loadEnvironment(file: string | undefined): void {
  if (file === undefined) return
  try {
    loadEnvFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`${file} cannot be read: ${code === 'ENOENT' ? 'no such file' : message}`)
  }
}
