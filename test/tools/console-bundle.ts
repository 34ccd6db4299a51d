import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build, transform } from 'esbuild'

const name = 'wireglot-console-bundle'
const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))

/**
 * The source of the module that `src/console/page.ts` imports: script and style sheet of the
 * console, each as one string.
 */
async function moduleText(): Promise<string> {
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

/** For esbuild and so for tsup. */
export const bundleForBuild = {
  name,
  setup(builder: import('esbuild').PluginBuild) {
    builder.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: name }))
    builder.onLoad({ filter: /.*/, namespace: name }, async () => ({
      contents: await moduleText(),
      loader: 'js' as const,
    }))
  },
}

/** For Vite and so for Vitest. */
export const bundleForTests = {
  name,
  resolveId: (id: string) => (id === name ? `\0${name}` : undefined),
  load: (id: string) => (id === `\0${name}` ? moduleText() : undefined),
}
