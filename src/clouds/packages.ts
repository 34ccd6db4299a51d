import { CloudAuthError } from './settings.ts'

/**
 * Throws a CloudAuthError that says how to install an optional package. Bundlers accept that a
 * package is missing only where its `import()` itself has a `catch`, and bundles for platforms
 * without sockets contain an empty module instead: `browser` in package.json.
 */
export const missing = (name: string) => (): never => {
  throw new CloudAuthError(
    `this "auth" needs the package ${name}, and Node or a runtime like it: npm install ${name}`,
  )
}

const longest = 300

/**
 * What an error of a credential library says, without what looks like a secret: some libraries
 * repeat the response of a token endpoint.
 */
export function reasonOf(error: unknown, secrets: readonly (string | undefined)[] = []): string {
  const message = error instanceof Error ? error.message : String(error)
  const known = secrets.reduce<string>(
    (text, secret) => (secret ? text.replaceAll(secret, '***') : text),
    message,
  )
  return known
    .slice(0, 10 * longest)
    .replaceAll(/[\w+/=.~-]{40,}/g, '***')
    .slice(0, longest)
}
