import { build } from 'esbuild'
import { fileURLToPath } from 'node:url'

/**
 * An entry of the package as one file, as an app's bundler makes it.
 *
 * @param options.globalName for a script that is no module
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
