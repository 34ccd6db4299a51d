import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))

/** Script and style sheet of the console, each as one string. */
async function consoleText(): Promise<string> {
  const bundled = await build({
    entryPoints: [path('src/console/browser/main.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
  })
  const sheets = await Promise.all(
    ['node_modules/uplot/dist/uPlot.min.css', 'src/console/browser/style.css'].map(sheet =>
      readFile(path(sheet), 'utf8'),
    ),
  )
  const { code } = await transform(sheets.join('\n'), { loader: 'css', minify: true })
  // In an element `script`, this would end it.
  const script = (bundled.outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script')
  return `export const script = ${JSON.stringify(script)}\nexport const style = ${JSON.stringify(code)}\n`
}

/** The program of the thread that writes cassettes, as one string. */
async function threadText(): Promise<string> {
  const bundled = await build({
    entryPoints: [path('src/cassettes/thread/main.ts')],
    bundle: true,
    minifyWhitespace: true,
    minifySyntax: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'es2023',
    legalComments: 'none',
  })
  return `export const program = ${JSON.stringify(bundled.outputFiles[0]?.text ?? '')}\n`
}

/** By the name of a module that `src/` imports: its source. */
const modules: Record<string, () => Promise<string>> = {
  'wireglot-console-bundle': consoleText,
  'wireglot-recorder-thread': threadText,
}
const plugin = 'wireglot-bundles'

/** For esbuild and so for tsup. */
export const bundleForBuild = {
  name: plugin,
  setup(builder: import('esbuild').PluginBuild) {
    const filter = new RegExp(`^(?:${Object.keys(modules).join('|')})$`)
    builder.onResolve({ filter }, ({ path: name }) => ({ path: name, namespace: plugin }))
    builder.onLoad({ filter, namespace: plugin }, async ({ path: name }) => ({
      contents: (await modules[name]?.()) ?? '',
      loader: 'js' as const,
    }))
  },
}

/** For Vite and so for Vitest. */
export const bundleForTests = {
  name: plugin,
  resolveId: (id: string) => (Object.hasOwn(modules, id) ? `\0${id}` : undefined),
  load: (id: string) => (id.startsWith('\0') ? modules[id.slice(1)]?.() : undefined),
}
