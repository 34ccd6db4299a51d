import { knownModel, makers } from '../../src/models/index.ts'
import { isNamed } from '../../src/models/names.ts'

/** How the names of each family begin: what stands before the first number or `*`. */
const beginnings = [
  ...new Set(
    makers.flatMap(({ models }) =>
      models.flatMap(({ names }) =>
        names.flatMap(name => /^\*?([a-z]+-?[a-z]*)/.exec(name)?.[1] ?? []),
      ),
    ),
  ),
].filter(word => word.length > 2)

/** The names of models in type definitions and their comments. */
export function modelNamesIn(definitions: string): string[] {
  const found = definitions.matchAll(/(?<![\w.-])[a-z]+(?:-[a-z]+)*-?\d[\w.-]*[a-z0-9]/g)
  const names = [...found].map(([name]) => name).filter(name => /^[a-z0-9.-]+$/.test(name))
  return [...new Set(names)]
    .filter(name => beginnings.some(word => name.startsWith(word)))
    .toSorted()
}

/**
 * The names that the tables do not list: those of no row, and newer versions, with the row that
 * they are taken for.
 */
export function unlistedModels(names: readonly string[]): { name: string; row?: string }[] {
  return names.flatMap(name => {
    const row = knownModel(name)?.model.names.find(pattern => isNamed(name, pattern))
    if (row === undefined) return [{ name }]
    const version = /\d+(?:\.\d+)?(?=\+)/.exec(row)?.[0]
    const isListed =
      version === undefined ||
      [version, version.replace('.', '-')].some(own =>
        isNamed(name, row.replace(`${version}+`, own)),
      )
    return isListed ? [] : [{ name, row }]
  })
}
