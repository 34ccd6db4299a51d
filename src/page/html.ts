import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { protocolNames } from '../protocols/index.ts'
import { kinds } from './recognize.ts'
import { script } from './script.ts'
import { style } from './style.ts'

const options = (names: readonly string[]) => names.map(name => `<option>${name}</option>`).join('')

const markup = /* html */ `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>wireglot playground</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<a class="skip" href="#source">Skip to the source</a>
<header>
  <h1>wireglot<span>playground</span></h1>
  <nav aria-label="Sections"><a href="#bench">Translate</a><a href="#models">Models</a><a href="#clients">Client settings</a><a href="#usage">Usage</a></nav>
</header>
<main>
  <form id="keys" hidden>
    <p id="keys-why" role="status"></p>
    <div><label for="key">Key of this gateway</label><input id="key" type="password" autocomplete="off" spellcheck="false"></div>
    <button class="main">Use key</button>
    <button type="button" id="forget">Forget key</button>
  </form>
  <div id="bench">
    <section class="panel" aria-labelledby="source-title">
      <div class="head"><h2 id="source-title">Source</h2></div>
      <div class="fields">
        <div><label for="protocol">Protocol</label><select id="protocol"><option value="">detect</option>${options(protocolNames)}</select></div>
        <div><label for="kind">Kind</label><select id="kind"><option value="">detect</option>${options(kinds)}</select></div>
        <div><label for="example">Example</label><select id="example"><option value="">none</option></select></div>
      </div>
      <textarea id="source" aria-label="Request, response or stream in one protocol" aria-keyshortcuts="Control+Enter" spellcheck="false" autocapitalize="off" autocomplete="off"
        placeholder="Paste a request, a response or a stream of events in any of the protocols."></textarea>
      <div class="actions">
        <button class="main" id="go" type="button">Translate</button><span><kbd>Ctrl</kbd> <kbd>Enter</kbd></span>
        <p id="told" role="status" aria-live="polite"></p>
      </div>
      <p class="fault" id="fault" role="alert" hidden></p>
      <div id="choices" role="group" aria-label="What it may be" hidden></div>
      <h3 class="rule" id="read-title" hidden>As it was read</h3>
      <div class="code" id="read" tabindex="0" role="region" aria-labelledby="read-title" hidden></div>
    </section>
    ${protocolNames
      .slice(1)
      .map(() => '<section class="panel target"><p class="empty">What another protocol makes of it.</p></section>')
      .join('\n    ')}
  </div>
  <div id="more">
    <section class="panel" id="models" aria-labelledby="models-title"><div class="head"><h2 id="models-title">Models</h2></div><div class="scroll" id="models-list"></div></section>
    <section class="panel" id="clients" aria-labelledby="clients-title">
      <div class="head"><h2 id="clients-title">Client settings</h2></div>
      <div class="fields">
        <div><label for="client">Client</label><select id="client"></select></div>
        <div><label for="model">Model</label><select id="model"></select></div>
      </div>
      <div id="snippets"></div>
    </section>
    <section class="panel" id="usage" aria-labelledby="usage-title">
      <div class="head"><h2 id="usage-title">Latest usage of this process</h2><button type="button" class="small" id="refresh">Refresh</button></div>
      <div class="scroll" id="records" tabindex="0" role="region" aria-labelledby="usage-title"></div>
    </section>
  </div>
</main>
<noscript><p class="fault">This page needs JavaScript.</p></noscript>
<script>${script}</script>
</body>
</html>
`

const source = (text: string) => `'sha256-${btoa(String.fromCharCode(...sha256(utf8ToBytes(text))))}'`

/** The page, the same for everybody: it holds nothing but code, and may run nothing else, nor speak to anybody but this gateway. */
export function page(): { html: string; headers: Record<string, string> } {
  const policy = [
    "default-src 'none'",
    `script-src ${source(script)}`,
    `style-src ${source(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    html: markup,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
      vary: 'accept',
    },
  }
}
