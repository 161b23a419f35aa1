import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A replacement of text in a built file. The file must contain `find`. */
export interface Edit {
  file: string
  find: string
  replace: string
}

/**
 * Copies the built code into an empty folder and applies the edits. Third-party packages are
 * linked.
 */
export function copyBuilt(options: { root: string; copy: string; edits: Edit[] }): void {
  const { root, copy, edits } = options
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  cpSync(join(root, 'test', 'images'), join(copy, 'test', 'images'), { recursive: true })
  cpSync(join(root, 'docs'), join(copy, 'docs'), { recursive: true })
  const packages = ['packages', 'clients', 'tools'].flatMap((room) =>
    readdirSync(join(root, room)).map((name) => join(room, name)),
  )
  for (const part of ['gateway', 'worker', 'console', ...packages]) {
    for (const name of [
      'package.json',
      'dist',
      'migrations',
      'docs.html',
      'assets',
      'node_modules',
    ]) {
      if (!existsSync(join(root, part, name))) continue
      cpSync(join(root, part, name), join(copy, part, name), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !path.endsWith('.map') && !path.endsWith('.d.ts'),
      })
    }
  }
  for (const part of packages) {
    const manifest = join(copy, part, 'package.json')
    if (existsSync(manifest)) removeSourceCondition(manifest)
  }
  for (const { file, find, replace } of edits) {
    const text = readFileSync(join(copy, file), 'utf8')
    if (!text.includes(find)) throw new Error(`${file} does not contain: ${find}`)
    writeFileSync(join(copy, file), text.replaceAll(find, replace))
  }
}

/** Removes the condition `intake:source` from a manifest, because the copy has no sources. */
function removeSourceCondition(file: string): void {
  const manifest = readFileSync(file, 'utf8')
  writeFileSync(file, manifest.replace(/"intake:source": "[^"]*",/g, ''))
}
