import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'

/**
 * Bundles an entry of the package into one file, as an app's bundler does.
 *
 * @param options.globalName the global variable for the exports of the entry; if it is set, the
 * file is a script, otherwise a module
 */
export async function bundleEntry(
  entry: 'web' | 'react-native',
  options: { minify: boolean; globalName?: string },
): Promise<string> {
  const { minify, globalName } = options
  const result = await build({
    entryPoints: [fileURLToPath(new URL(`../src/${entry}/index.ts`, import.meta.url))],
    bundle: true,
    minify,
    write: false,
    target: 'es2019',
    ...(globalName === undefined ? { format: 'esm' } : { format: 'iife', globalName }),
  })
  return result.outputFiles[0]!.text
}
