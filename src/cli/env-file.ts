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

/** @throws Error if the value names a variable that is not set */
export function fromEnvironment(
  value: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (!value?.startsWith('env:')) return value
  const found = environment[value.slice(4)]
  if (!found) throw new Error(`expected the environment variable ${value.slice(4)} to be set`)
  return found
}
