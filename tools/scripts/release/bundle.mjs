// Makes npm packages that run outside a clone: one bundled program each, without dependencies.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from 'esbuild'
import { root } from '../bootstrap.mjs'

/** Native parts, and services of others that libraries support: the libraries work without them. */
const leftOut = ['msgpackr-extract', '@valkey/valkey-glide', 'pg', 'sharp']

export const programs = [
  {
    entry: 'tools/cli/src/main.ts',
    name: '@intake/cli',
    bin: 'intake',
    description: 'Operates an Intake deployment.',
  },
  {
    entry: 'tools/cli/src/sandbox-main.ts',
    name: '@intake/sandbox',
    bin: 'intake-sandbox',
    description: 'An Intake gateway in memory, with faults on demand, for tests of apps that send.',
  },
  {
    entry: 'clients/conformance/src/main.ts',
    name: '@intake/conformance',
    bin: 'intake-conformance',
    description: 'Tests whether a sender delivers to Intake what it must.',
  },
]

/** Writes the tarball of a program into `folder`. */
export async function packProgram({ entry, name, bin, description }, version, folder) {
  const work = join(folder, `.${bin}`)
  mkdirSync(work, { recursive: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: join(work, 'main.mjs'),
    bundle: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    // Built from the sources, because a clone may have an older build.
    conditions: ['intake:source'],
    external: leftOut,
    banner: {
      js:
        '#!/usr/bin/env node\n' +
        "import { createRequire as createBundleRequire } from 'node:module'\n" +
        'const require = createBundleRequire(import.meta.url)',
    },
    plugins: [filesBeside(work)],
  })
  chmodSync(join(work, 'main.mjs'), 0o755)
  const { engines, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const manifest = {
    name,
    version,
    private: true,
    description,
    license,
    type: 'module',
    bin: { [bin]: 'main.mjs' },
    engines,
  }
  writeFileSync(join(work, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  cpSync(join(root, 'LICENSE'), join(work, 'LICENSE'))
  writeFileSync(join(work, 'LICENSES-OF-OTHERS.txt'), licencesOf(metafile))
  packFolder(work, folder)
  rmSync(work, { recursive: true })
}

/** Writes the tarball of a package, which npm names after the package and its version. */
export function packFolder(from, into) {
  execFileSync('npm', ['pack', '--pack-destination', into, '--loglevel=error'], {
    cwd: from,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
  })
}

/** Files that a module reads by a path relative to itself travel in the folder `files`. */
function filesBeside(work) {
  const pattern = /new URL\('(\.\.?\/[^']+)', import\.meta\.url\)/g
  return {
    name: 'files-beside',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path.includes('/node_modules/')) return undefined
        const source = readFileSync(path, 'utf8').replace(/^#!.*\n/, '')
        const contents = source.replaceAll(pattern, (whole, target) => {
          const file = resolve(dirname(path), target)
          if (!existsSync(file)) throw new Error(`${path} names ${target}, which does not exist`)
          const place = `files/${relative(root, file)}`
          cpSync(file, join(work, place), { recursive: true })
          return whole.replace(target, `./${place}${target.endsWith('/') ? '/' : ''}`)
        })
        return { contents, loader: 'ts' }
      })
    },
  }
}

/** Returns the licences of the packages whose code is in a bundle. */
function licencesOf({ outputs }) {
  const folders = new Set()
  for (const { inputs } of Object.values(outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder)
    }
  }
  return [...folders]
    .toSorted((a, b) => a.localeCompare(b))
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(root, folder, 'package.json'), 'utf8'),
      )
      const texts = readdirSync(join(root, folder))
        .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
        .map((file) => readFileSync(join(root, folder, file), 'utf8').trim())
      return [`${name} ${version}: ${license}`, ...texts].join('\n\n')
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}
