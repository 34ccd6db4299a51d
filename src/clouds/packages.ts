import { CloudAuthError } from './settings.ts'

/** Loads an optional package. @throws CloudAuthError that says how to install it */
export async function optionalPackage<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  return load().catch(() => {
    throw new CloudAuthError(`this "auth" needs the package ${name}: npm install ${name}`)
  })
}

const longest = 300

/** What an error of a credential library says, without what looks like a secret: some libraries repeat the response of a token endpoint. */
export function reasonOf(error: unknown, secrets: readonly (string | undefined)[] = []): string {
  const message = error instanceof Error ? error.message : String(error)
  const known = secrets.reduce<string>((text, secret) => (secret ? text.replaceAll(secret, '***') : text), message)
  return known
    .slice(0, 10 * longest)
    .replaceAll(/[\w+/=.~-]{40,}/g, '***')
    .slice(0, longest)
}
