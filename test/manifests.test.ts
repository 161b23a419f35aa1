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

type Manifest = Record<
  'dependencies' | 'optionalDependencies' | 'peerDependencies',
  Record<string, string> | undefined
> & { name: string }

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest

// In the workspace, the packages of the root stand in for missing ones; an image does not have them.
t.test('each manifest names what its sources import', async (t) => {
  for (const folder of packageFolders()) {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(folder)
    const named = { ...dependencies, ...optionalDependencies, ...peerDependencies }
    const missing = sourcesIn(join(root, folder, 'src')).flatMap((file) =>
      importsOf(readFileSync(join(root, folder, 'src', file), 'utf8')).flatMap((name) =>
        name in named ? [] : [`${file}: ${name}`],
      ),
    )
    t.same(missing, [], folder)
  }
})

t.test('only the image of the console has the packages that decode pictures', async (t) => {
  const manifests = new Map(
    packageFolders().map((folder) => [manifestOf(folder).name, manifestOf(folder)]),
  )
  const packagesOf = (name: string): string[] => {
    const { dependencies, optionalDependencies } = manifests.get(name) ?? {}
    const direct = Object.keys({ ...dependencies, ...optionalDependencies })
    return [...direct, ...direct.flatMap(packagesOf)]
  }
  const ofPictures = (image: string) => {
    const found = new Set(packagesOf(`@intake/${image}`))
    return ['ffi-rs', 'sharp'].filter((name) => found.has(name))
  }
  t.same(ofPictures('console'), ['ffi-rs', 'sharp'])
  for (const image of ['gateway', 'worker', 'cli']) t.same(ofPictures(image), [], image)
})
