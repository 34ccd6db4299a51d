import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import type { Protocol } from '../../src/protocol.ts'
import { protocols } from '../../src/protocols/index.ts'

/**
 * `of`: the protocol, `tools`, `several`, or `all`. `group`: the key that holds it; absent: it is outside of
 * groups.
 */
export type DocumentedOption = {
  of: string
  group?: string
  name: string
  values: string
  doc: string
}

const root = new URL('../../src/', import.meta.url)

/**
 * Where options are declared: the common ones, those of several protocols, those of tools, then
 * those of each protocol.
 */
const declared: [of: string, file: string, type: string][] = [
  ['all', 'translate/settings.ts', 'Settings'],
  ['all', 'protocol.ts', 'CodecOptions'],
  ['several', 'protocol.ts', 'SharedOptions'],
  ['tools', 'protocol.ts', 'ToolOptions'],
  ...readdirSync(new URL('protocols/', root), { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }): [string, string, string] => [name, `protocols/${name}/options.ts`, 'Options']),
]

/** Set by the library itself, not by its users. */
const internal = new Set(['fieldNames', 'keepsResponse', 'hideUsage', 'tools'])

/** Every option with what its docstring says. */
export const documentedOptions: DocumentedOption[] = declared.flatMap(([of, file, type]) => {
  const tree = ts.createSourceFile(
    file,
    readFileSync(new URL(file, root), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
  const aliases = tree.statements
    .filter(ts.isTypeAliasDeclaration)
    .filter(({ name }) => (file === 'protocol.ts' ? name.text === type : name.text.endsWith(type)))
  return aliases
    .flatMap(alias => membersOf(alias.type))
    .flatMap(member => {
      const name = member.name.getText(tree)
      if (internal.has(name)) return []
      const group = of === 'tools' ? of : (protocols as Record<string, Protocol>)[of]?.optionsKey
      return [
        {
          of,
          ...(group && { group }),
          name,
          values: member.type?.getText(tree).replaceAll(/\s+/g, ' ') ?? '',
          doc:
            of === 'several'
              ? `${docOf(member, tree)} ${protocolsWith(name)}`
              : docOf(member, tree),
        },
      ]
    })
})

/** Which protocols have this option. */
function protocolsWith(name: string): string {
  const having = Object.values<Protocol>(protocols).filter(({ options }) => options[name])
  return `Protocols: ${having.map(one => one.name).join(', ')}.`
}

function membersOf(type: ts.TypeNode): ts.PropertySignature[] {
  if (ts.isIntersectionTypeNode(type)) return type.types.flatMap(membersOf)
  return ts.isTypeLiteralNode(type) ? type.members.filter(ts.isPropertySignature) : []
}

/** The docstring of a declaration in one line. Empty: it has none. */
export function docOf({ pos }: ts.Node, { text }: ts.SourceFile): string {
  const comment = ts
    .getLeadingCommentRanges(text, pos)
    ?.findLast(({ pos: at }) => text.startsWith('/**', at))
  if (!comment) return ''
  return text
    .slice(comment.pos + 3, comment.end - 2)
    .split('\n')
    .map(line => line.replace(/^\s*\*?\s?/, '').trim())
    .join(' ')
    .trim()
}

export function optionRows(): string[][] {
  return documentedOptions.map(({ of, group, name, values, doc }) => [
    of,
    `\`${group ? `${group}.` : ''}${name}\``,
    `\`${values.replaceAll('|', '\\|')}\``,
    doc.replaceAll('|', '\\|'),
  ])
}
