import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const source = fileURLToPath(new URL('../src', import.meta.url))

/** The floors from top to bottom. Each may import only from the floors below it. */
const floors = [
  'main.ts',
  'index.ts',
  'compose.ts',
  'app.ts',
  'ports.ts',
  'routes',
  'openapi',
  'accept',
  'errors',
  'report',
  'commit',
  'form',
  'identity',
  'body',
  'record',
  'admission',
]

const floorOf = (file: string) => floors.indexOf(file.split('/')[0] ?? '')

t.test('no file imports from a higher floor', async (t) => {
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
  t.ok(imports > 100, `${imports} imports`)
})
