/** Headers of Node or undici with one string for each name. The names are lower case already. */
export function plainHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value
  return plain
}
