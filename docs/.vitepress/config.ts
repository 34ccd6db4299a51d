import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitepress'

const root = '../node_modules'

const page = (text: string, link: string) => ({ text, link })
const guide = (text: string, name: string) => page(text, `/docs/guides/${name}`)

/** The site is built from the Markdown of the repository, README.md as its first page. A dead link fails the build. */
export default defineConfig({
  title: 'wireglot',
  description: 'Any LLM client on any model',
  srcDir: '..',
  outDir: `${root}/.docs`,
  cacheDir: `${root}/.cache/vitepress`,
  srcExclude: ['node_modules', 'dist', 'bench', 'src', 'test'].map(folder => `${folder}/**`),
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  // For programs: the Markdown of each page next to it, and a list of the pages.
  async buildEnd({ srcDir, outDir, pages, rewrites }) {
    for (const page of pages) {
      const target = join(outDir, rewrites.map[page] ?? page)
      await mkdir(dirname(target), { recursive: true })
      await copyFile(join(srcDir, page), target)
    }
    const list = await readFile(join(srcDir, 'docs/llms.txt'), 'utf8')
    // In the repository its links begin at its folder, in the site at the root.
    const links = list.replaceAll('](../README.md)', '](index.md)').replaceAll('](../', '](')
    const atRoot = links.replaceAll(/\]\((?!index\.md|CHANGELOG)(?=\w)/g, '](docs/')
    await writeFile(join(outDir, 'llms.txt'), atRoot)
  },
  // Links to files of the repository are no pages of the site.
  ignoreDeadLinks: [/\.ts$/, /LICENSE$/],
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            // Guides before tables: a word such as "budget" is in many notes.
            boostDocument: (id: string) => {
              if (/\/(notes|drift|options|mapping|models)(#|$)/.test(id)) return 0.2
              return id.includes('/guides/') ? 2 : 1
            },
          },
        },
      },
    },
    sidebar: [
      {
        text: 'Start',
        items: [page('Overview', '/'), guide('Quick start', 'quick-start')],
      },
      {
        text: 'Clients',
        items: [
          guide('Claude Code', 'claude-code'),
          guide('Codex', 'codex'),
          guide('Gemini CLI', 'gemini-cli'),
          guide('opencode', 'opencode'),
          guide('Aider', 'aider'),
          guide('Cline', 'cline'),
          guide('Continue', 'continue'),
          guide('Cursor', 'cursor'),
          guide('Zed', 'zed'),
        ],
      },
      {
        text: 'Gateway',
        items: [
          guide('Gateway', 'gateway'),
          guide('In your framework', 'frameworks'),
          guide('SDKs in process', 'in-process'),
          guide('Vendors', 'vendors'),
          guide('Weak models', 'weak-models'),
          guide('Clouds', 'clouds'),
          guide('Records, keys and budgets', 'records'),
          guide('The console', 'console'),
          guide('Several processes', 'several-processes'),
          guide('Deploy', 'deploy'),
          guide('Operations', 'operations'),
          guide('Cassettes', 'cassettes'),
          guide('Security', 'security'),
          guide('Runtimes', 'runtimes'),
        ],
      },
      {
        text: 'Library',
        items: [
          guide('Normalizing', 'normalizing'),
          guide('Streaming', 'streaming'),
          guide('State', 'state'),
          guide('Losses', 'losses'),
          guide('Schemas', 'schemas'),
          guide('Testing', 'testing'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('Mapping', '/docs/mapping'),
          page('Models', '/docs/models'),
          page('Options', '/docs/options'),
          page('Notes', '/docs/notes'),
          page('Reliability', '/docs/reliability'),
          page('Performance', '/docs/performance'),
          page('Drift', '/docs/drift'),
          page('Changelog', '/CHANGELOG'),
        ],
      },
      {
        text: 'Contributing',
        items: [
          page('Contributing', '/docs/contributing'),
          page('Architecture', '/docs/architecture'),
          page('Internals', '/docs/internals'),
          guide('Changing wireglot', 'changing-wireglot'),
          guide('A fifth protocol', 'fifth-protocol'),
        ],
      },
    ],
  },
})
