import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageFolders, root } from '../tools/scripts/bootstrap.mjs'

/** The packages that a source file imports at run time. */
function importsOf(source: string): string[] {
  const specifiers = source.matchAll(/^(?:(?:im|ex)port (?!type )|\} ).*?from '([^.'][^']*)'/gm)
  return Array.from(specifiers, ([, name = '']) => name)
    .filter((name) => !name.startsWith('node:'))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
}

const sourcesIn = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.ts'),
      )
    : []

// In the workspace, the packages of the root stand in for missing ones; an image does not have them.
t.test('each manifest names what its sources import', async (t) => {
  for (const folder of packageFolders()) {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string> | undefined>
    const named = { ...dependencies, ...optionalDependencies, ...peerDependencies }
    const missing = sourcesIn(join(root, folder, 'src')).flatMap((file) =>
      importsOf(readFileSync(join(root, folder, 'src', file), 'utf8')).flatMap((name) =>
        name in named ? [] : [`${file}: ${name}`],
      ),
    )
    t.same(missing, [], folder)
  }
})
