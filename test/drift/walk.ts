import ts from 'typescript'
import { mark } from '../../src/testing/change.ts'

/**
 * One thing that a definition allows: a field, or one of the values or shapes that a field may
 * hold. `body` holds it and as little else as the definition allows. `trail`: the names of its
 * parents. `others`: the same body with other values in its place, or without it.
 */
export type Site = {
  name: string
  path: string
  trail: readonly string[]
  body: unknown
  others: unknown[]
}

/** `files`: the source files of the program, the first of which exports the type. */
export function openDefinitions(files: readonly string[]): {
  typeOf(name: string): ts.Type
  checker: ts.TypeChecker
} {
  const program = ts.createProgram([...files], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
  })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(files[0] ?? '')
  const module = source && checker.getSymbolAtLocation(source)
  return {
    checker,
    typeOf(name) {
      const found =
        module && checker.getExportsOfModule(module).find(symbol => symbol.name === name)
      if (!found) throw new Error(`${files[0]} exports no ${name}`)
      const type = checker.getDeclaredTypeOfSymbol(found)
      if (type.flags & ts.TypeFlags.Any)
        throw new Error(
          `${name} is any: the package of its definitions is missing or has other names`,
        )
      return type
    },
  }
}

/** How a place is filled. `name`: of the definition that it belongs to. */
type Place = {
  type: ts.Type
  path: string
  trail: readonly string[]
  name: string
  key: string
  embed(value: unknown): unknown
  absent: unknown[]
}

/** Values for strings that have a form of their own, by the name of the field. */
const forms: [RegExp, string][] = [
  [/^schema$/, `{"type":"object","title":"${mark}"}`],
  [/^(arguments|partial_json)$/, `{"a":"${mark}"}`],
  [/^(image_)?(url|uri)$|Ur[il]$|_ur[il]$/, `https://files.example/${mark}.png`],
  [/^(data|bytes|redactedContent|b64_json|partial_image_b64|file_data)$/, 'WnE3'],
  [/^(thoughtSignature|signature|encrypted_content)$/, 'WnE3WnE3'],
  [/^(mime_?type|media_type)$/i, 'image/png'],
  [/^(createTime|startTime|endTime|retrievalTime)$/, '2026-01-02T03:04:05Z'],
]

/** Numbers that have a range; those that count places are 0. */
const isShare = /^(temperature|top_?p|presence_?penalty|frequency_?penalty)$/i

const isIndex =
  /^(index|contentBlockIndex|documentIndex|searchResultIndex|candidate_?index|output_index|content_index|summary_index|annotation_index|partIndex|parameter_index)$/i

/**
 * What the smallest value of a definition has if nothing is required there, although the wire wants
 * it.
 */
const common = new Map([
  ['Content', ['role', 'parts']],
  ['Part', ['text']],
  ['Blob_2', ['data', 'mimeType']],
  ['FileData', ['fileUri', 'mimeType']],
  ['FunctionDeclaration', ['name']],
  ['FunctionCall', ['name', 'id', 'args']],
  ['FunctionResponse', ['name', 'id', 'response']],
  ['Candidate', ['content', 'finishReason']],
  ['Schema', ['type']],
  [
    'ResponseOutputTextAnnotationAddedEvent',
    [
      'type',
      'annotation',
      'item_id',
      'output_index',
      'content_index',
      'annotation_index',
      'sequence_number',
    ],
  ],
  ['GenerateContentResponsePromptFeedback', ['blockReason']],
  ['ModalityTokenCount', ['modality', 'tokenCount']],
  ['BetaSystemMessageParam', ['role', 'content']],
  ['FunctionCallOutput', ['type', 'call_id', 'output']],
])

/** Definitions of which one field excludes the others. */
const oneOf = new Set(['Part', 'Tool', 'GroundingChunk'])

/**
 * Walks a type breadth first and lists everything it allows. Every definition is taken apart once,
 * where it is met first. `seen`: those that another walk has taken apart.
 */
export function sitesOf(
  { checker }: { checker: ts.TypeChecker },
  root: ts.Type,
  seen = new Set<ts.Type>(),
): Site[] {
  const sites: Site[] = []
  const known = new Set<string>()
  const queue: Place[] = [
    {
      type: root,
      path: '',
      trail: [],
      name: nameOf(root) ?? '',
      key: '',
      embed: value => value,
      absent: [],
    },
  ]
  for (let place = queue.shift(); place; place = queue.shift()) take(place)
  return sites

  function add(site: Site): void {
    const reported = JSON.stringify([site.path, site.body])
    if (!known.has(reported)) sites.push(site)
    known.add(reported)
  }

  function take(place: Place): void {
    const members = membersOf(place.type)
    const bodies = members.map(member => place.embed(leastOf(member, place.key)))
    for (const [index, member] of members.entries()) {
      if (members.length === 1 || isBoolean(member) || !isWord(member)) continue
      if (place.key === 'model') continue
      // An optional value may be the default, so values are compared with each other.
      const others = bodies.filter((_, other) => other !== index && isWord(members[other]))
      add({
        name: `${place.name} = ${wordOf(member)}`,
        path: place.path,
        trail: place.trail,
        body: bodies[index],
        others: others.length > 0 ? others : place.absent,
      })
    }
    for (const member of members) open(member, place)
  }

  function open(type: ts.Type, place: Place): void {
    const item = itemOf(type)
    if (item)
      return void queue.push({
        ...place,
        type: item,
        path: `${place.path}/0`,
        embed: value => place.embed([value]),
        absent: [place.embed([])],
      })
    if (!(type.flags & objects) || isForeign(type) || isText(type)) return
    if (seen.has(type)) return
    seen.add(type)
    const least = oneOf.has(nameOf(type) ?? '')
      ? {}
      : (leastOf(type, place.key) as Record<string, unknown>)
    for (const property of checker.getPropertiesOfType(type)) {
      if (!isData(property)) continue
      const key = property.name
      const inner = checker.getTypeOfSymbol(property)
      if (membersOf(inner).length === 0) continue
      const name = `${nameOf(type) ?? place.name}.${key}`
      const path = `${place.path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const trail =
        membersOf(place.type).length > 1
          ? [...place.trail, `${place.name} = ${wordOf(type)}`]
          : place.trail
      const embed = (value: unknown) => place.embed({ ...least, [key]: value })
      const absent = isOptional(property)
        ? [
            place.embed(
              Object.fromEntries(Object.entries(least).filter(([other]) => other !== key)),
            ),
          ]
        : []
      // A boolean may have the default value: its two values are compared.
      const isFlag = membersOf(inner).every(isBoolean)
      const values = isFlag ? [true, false] : [leastOf(inner, key), ...otherOf(inner, key)]
      const [body, ...others] = values.map(embed)
      const isInText = membersOf(inner).length > 1 && membersOf(inner).every(isWord) && !isFlag
      if (!isEmpty(values[0]) && !isLabel(inner) && !isInText)
        add({ name, path, trail, body, others: isOptional(property) && !isFlag ? absent : others })
      queue.push({ type: inner, path, trail: [...trail, name], name, key, embed, absent })
    }
    const values = checker.getIndexTypeOfType(type, ts.IndexKind.String)
    if (values)
      queue.push({
        ...place,
        type: values,
        path: `${place.path}/${mark}`,
        embed: value => place.embed({ ...least, [mark]: value }),
        absent: [],
      })
  }

  /**
   * Another value of a required field whose value is free; what is optional is compared with its
   * absence.
   */
  function otherOf(type: ts.Type, key: string): unknown[] {
    const [only, ...more] = membersOf(type)
    if (!only || more.length > 0) return []
    if (only.flags & ts.TypeFlags.Number && !isIndex.test(key)) return [700_002]
    const text = leastOf(only, key)
    return isText(only) && typeof text === 'string'
      ? [
          text
            .replace(mark, 'Yp6')
            .replace('WnE3', 'WXA2')
            .replace('png', 'jpeg')
            .replace('2026', '2025'),
        ]
      : []
  }

  /** The smallest value of a type. */
  function leastOf(
    type: ts.Type,
    key: string,
    inside: readonly ts.Type[] = [],
    isCommon = false,
  ): unknown {
    const members = membersOf(type)
    if (inside.length > 0 && isNullable(type) && !isCommon) return null
    const wanted =
      members.find(
        member => !inside.includes(member) && (isText(member) || keyOfMember(member) === 'text'),
      ) ??
      members.find(member => !inside.includes(member)) ??
      members[0]
    if (!wanted) return null
    if (wanted.isStringLiteral() || wanted.isNumberLiteral()) return wanted.value
    if (wanted.flags & ts.TypeFlags.BooleanLiteral) return checker.typeToString(wanted) === 'true'
    if (isText(wanted)) return forms.find(([pattern]) => pattern.test(key))?.[1] ?? mark
    if (wanted.flags & ts.TypeFlags.Number) {
      if (isIndex.test(key)) return 0
      if (isShare.test(key)) return 0.5
      return 700_001
    }
    const item = itemOf(wanted)
    if (item) return inside.includes(item) ? [] : [leastOf(item, key, [...inside, wanted])]
    if (!(wanted.flags & objects) || isForeign(wanted))
      return { [key === 'annotation' ? 'type' : mark]: mark }
    const named = common.get(nameOf(wanted) ?? '')
    const required = checker
      .getPropertiesOfType(wanted)
      .filter(
        property => isData(property) && (named?.includes(property.name) ?? !isOptional(property)),
      )
    return Object.fromEntries(
      required.map(property => [
        property.name,
        leastOf(
          checker.getTypeOfSymbol(property),
          property.name,
          [...inside, wanted],
          named !== undefined,
        ),
      ]),
    )
  }

  function membersOf(type: ts.Type): ts.Type[] {
    const members = type.isUnion() ? type.types : [type]
    const empty =
      ts.TypeFlags.Undefined | ts.TypeFlags.Null | ts.TypeFlags.Void | ts.TypeFlags.Never
    return members.filter(
      member =>
        !(member.flags & empty) &&
        member.getCallSignatures().length === 0 &&
        member.symbol?.name !== '$UnknownMember' &&
        !(member.isStringLiteral() && member.value.endsWith('UNSPECIFIED')),
    )
  }

  /** Only a value that names the kind of the object. */
  function isLabel(type: ts.Type): boolean {
    const [only, ...more] = membersOf(type)
    return more.length === 0 && only?.isStringLiteral() === true
  }

  /** Does a value distinguish it from its neighbors? */
  function isWord(type: ts.Type | undefined): boolean {
    if (!type || isText(type) || itemOf(type)) return false
    if (type.isLiteral() || keyOfMember(type) !== undefined) return true
    return labels.some(key => {
      const property = type.getProperty(key)
      return property !== undefined && isLabel(checker.getTypeOfSymbol(property))
    })
  }

  /** Of a union whose members have one key each, as AWS defines them: the key of this member. */
  function keyOfMember(type: ts.Type): string | undefined {
    if (!isUnionMember(type)) return undefined
    return checker
      .getPropertiesOfType(type)
      .find(property => membersOf(checker.getTypeOfSymbol(property)).length > 0)?.name
  }

  function itemOf(type: ts.Type): ts.Type | undefined {
    return checker.isArrayType(type) || checker.isTupleType(type)
      ? checker.getIndexTypeOfType(type, ts.IndexKind.Number)
      : undefined
  }

  function wordOf(type: ts.Type): string {
    if (type.isStringLiteral() || type.isNumberLiteral()) return JSON.stringify(type.value)
    const key = keyOfMember(type)
    if (key !== undefined) return `${nameOf(type)} (${key})`
    const word = labels
      .map(key => type.getProperty(key))
      .flatMap(property => (property ? membersOf(checker.getTypeOfSymbol(property)) : []))
      .find(member => member.isStringLiteral())
    const name = nameOf(type) ?? checker.typeToString(type)
    return word?.isStringLiteral() ? `${name} (${word.value})` : name
  }
}

const objects = ts.TypeFlags.Object | ts.TypeFlags.Intersection

function nameOf(type: ts.Type): string | undefined {
  const symbol = (type.aliasSymbol ?? type.symbol) as
    | (ts.Symbol & { parent?: ts.Symbol })
    | undefined
  // Each member of such a union has a name in the namespace of the union.
  const name = symbol && isUnionMember(type) ? symbol.parent?.name : symbol?.name
  return name && !name.startsWith('__') ? name : undefined
}

const isUnionMember = (type: ts.Type) =>
  /^[A-Z]\w*Member$/.test(type.symbol?.name ?? '') && type.getProperty('$unknown') !== undefined

const labels = ['type', 'role']

/** `string`, also where an editor is to suggest some: `string & {}`. Bytes are base64 in JSON. */
const isText = (type: ts.Type): boolean =>
  Boolean(type.flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) ||
  type.symbol?.name === 'Uint8Array' ||
  (type.isIntersection() && type.types.some(isText))

const isNullable = (type: ts.Type) =>
  type.isUnion() && type.types.some(member => member.flags & ts.TypeFlags.Null)

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).every(isEmpty))

const isBoolean = (type: ts.Type) => Boolean(type.flags & ts.TypeFlags.BooleanLiteral)
const isOptional = (property: ts.Symbol) => Boolean(property.flags & ts.SymbolFlags.Optional)

/** Not methods and getters, which are not on the wire. */
const isData = (property: ts.Symbol) =>
  !(property.flags & (ts.SymbolFlags.Method | ts.SymbolFlags.Accessor)) &&
  !property.name.startsWith('__')

/** A class of the language or of the platform: no data. */
const isForeign = (type: ts.Type) =>
  type.symbol !== undefined &&
  !type.symbol?.name.startsWith('__') &&
  type.symbol?.declarations?.some(declaration =>
    /\/typescript\/lib\/|\/@types\//.test(declaration.getSourceFile().fileName),
  )
