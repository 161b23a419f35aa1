import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

/**
 * Checks the layers of the source, called floors: every file must belong to a floor, and import
 * only from its own floor and the floors below.
 *
 * @param options.source the folder of the floors
 * @param options.floors names of files and folders in `source`, from top to bottom
 * @param options.importsMin how many imports the check must find, to show that its search works
 */
export function checkFloors(
  t: Test,
  options: { source: URL; floors: readonly string[]; importsMin: number },
): void {
  const { floors, importsMin } = options
  const source = fileURLToPath(options.source)
  const floorOf = (file: string) => floors.indexOf(file.split('/')[0] ?? '')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  let imports = 0
  for (const file of files) {
    t.not(floorOf(file), -1, `${file} has a floor`)
    const text = readFileSync(join(source, file), 'utf8')
    for (const [, target = ''] of text.matchAll(/from '(\.{1,2}\/[^']+)'/g)) {
      const imported = relative(source, join(source, dirname(file), target))
      imports++
      if (floorOf(imported) < floorOf(file)) t.fail(`${file} imports ${imported}`)
    }
  }
  t.ok(imports >= importsMin, `${imports} imports`)
}
