/** Unicode code points: the offsets of citations count in them. */
export function pointsIn(text: string): number {
  let points = 0
  for (const _ of text) points++
  return points
}
