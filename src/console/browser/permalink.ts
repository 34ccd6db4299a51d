/**
 * What a link to a translation contains. It is in the fragment of the URL, which browsers do not
 * send.
 */
export type Linked = { text: string; protocol: string; kind: string; target: string }

const through = async (
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())

/** In letters that a URL takes. */
export async function pack(linked: Linked): Promise<string> {
  const bytes = await through(
    new TextEncoder().encode(JSON.stringify(linked)),
    new CompressionStream('deflate-raw'),
  )
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** @throws Error for anything that `pack` has not written */
export async function unpack(packed: string): Promise<Linked> {
  const binary = atob(packed.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, letter => letter.charCodeAt(0))
  const { text, protocol, kind, target } = JSON.parse(
    new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'))),
  ) as Partial<Linked>
  return {
    text: String(text ?? ''),
    protocol: String(protocol ?? ''),
    kind: String(kind ?? ''),
    target: String(target ?? ''),
  }
}
