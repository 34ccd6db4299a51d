/** A span of a text, in code points. */
export type Span = { start: number; end: number }

export type Piece<S> = Span & { spans: S[] }

/**
 * A text of this length, cut at both ends of each span, and for each piece the spans that cover it,
 * in their order. Undefined: so many spans lie across each other that the pieces would be many
 * times as long as the spans.
 */
export function piecesOf<S extends Span>(
  length: number,
  spans: readonly S[],
): Piece<S>[] | undefined {
  const edges = new Set([0, length])
  for (const { start, end } of spans) edges.add(start).add(end)
  const sorted = [...edges].filter(edge => edge >= 0 && edge <= length).sort((a, b) => a - b)
  const places = new Map(sorted.map((edge, place) => [edge, place]))
  const pieces = sorted
    .slice(1)
    .map((end, place): Piece<S> => ({ start: sorted[place] ?? 0, end, spans: [] }))
  let room = 1000 + 16 * spans.length
  for (const span of spans) {
    const first = places.get(span.start) ?? 0
    const behind = places.get(span.end) ?? 0
    room -= behind - first
    if (room < 0) return undefined
    for (let place = first; place < behind; place++) pieces[place]?.spans.push(span)
  }
  return pieces
}
