import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../../docs/reliability.md', import.meta.url)

/**
 * Puts figures between their marks in docs/reliability.md: the programs that measure them call it.
 */
export function writeSection(name: string, lines: readonly string[]): void {
  const text = readFileSync(file, 'utf8')
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`docs/reliability.md has no marks for ${name}`)
  writeFileSync(
    file,
    `${text.slice(0, from + begin.length)}\n${lines.join('\n')}\n${text.slice(to)}`,
  )
}
