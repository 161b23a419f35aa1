// Writes a bill of materials for each image, with pnpm, in the format CycloneDX. Reads the folders
// of the images, which check-images.sh made. Checks that each bill lists exactly the packages in
// its folder, and that the licence of each package is permitted. The bills do not include the
// contents of the base image (Debian, Node). Usage: node deploy/sbom.mjs FOLDER
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeSbom } from '../tools/scripts/release/write-sbom.mjs'
import { isPermitted } from '../tools/scripts/release-rules.mjs'

const folder = resolve(process.argv[2] ?? '')
mkdirSync(join(folder, 'sbom'), { recursive: true })

for (const image of ['gateway', 'worker', 'console', 'cli']) {
  const file = join(folder, 'sbom', `${image}.cdx.json`)
  writeSbom(join(folder, image), file, [image])
  const { components } = JSON.parse(readFileSync(file, 'utf8'))
  const foreign = components.filter(({ group }) => group !== '@intake')
  // Folders in pnpm's store have names like `@scope+name@1.0.0_PEERS`: `+` stands for `/`, and the
  // peer dependencies follow after `_`.
  const names = foreign.map(({ group, name, version }) => ({
    name: `${group ? `${group}+` : ''}${name}@${version}`,
  }))
  const present = readdirSync(join(folder, image, 'node_modules/.pnpm')).filter((entry) =>
    entry.includes('@'),
  )
  const isOf = (entry, name) => entry === name || entry.startsWith(`${name}_`)
  assert.deepEqual(
    present.filter((entry) => !names.some(({ name }) => isOf(entry, name))),
    [],
    'not listed',
  )
  assert.deepEqual(
    names.filter(({ name }) => !present.some((entry) => isOf(entry, name))),
    [],
    'not present',
  )
  const counts = {}
  for (const { name, licenses = [] } of foreign) {
    const found = licenses.map(
      ({ license, expression }) => expression ?? license.id ?? license.name,
    )
    const text = found.join(' AND ') || 'none'
    assert.ok(found.length > 0 && found.every((one) => isPermitted(name, one)), `${name}: ${text}`)
    counts[text] = (counts[text] ?? 0) + 1
  }
  const list = Object.entries(counts).toSorted(([, a], [, b]) => b - a)
  console.log(
    `${file}: ${foreign.length} packages (${list.map((one) => one.join(' ')).join(', ')})`,
  )
}
