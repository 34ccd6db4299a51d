import type { IncomingMessage, ServerResponse } from 'node:http'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { script, style } from 'wireglot-console-bundle'

const html = /* html */ `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>wireglot console</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<noscript><p>This page needs JavaScript.</p></noscript>
<script>${script}</script>
</body>
</html>
`

const source = (text: string) =>
  `'sha256-${btoa(String.fromCharCode(...sha256(utf8ToBytes(text))))}'`

/** The page runs its own script only, and speaks to its own gateway only. */
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `script-src ${source(script)}`,
    `style-src ${source(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/** Sends the page. It is the same for everybody and contains no data. */
export function sendPage({ method }: IncomingMessage, response: ServerResponse): void {
  if (method !== 'GET' && method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
    return
  }
  response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(html) })
  response.end(method === 'HEAD' ? undefined : html)
}
