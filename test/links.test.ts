import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needsClone } from '@intake/test-kit/needs-clone'
import t from 'tap'

const root = fileURLToPath(new URL('..', import.meta.url))
const findDocuments = () =>
  execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)))

/** The anchor that a code host such as GitHub gives a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** The folders of the repository: text in code that begins with one of them is a path. */
const rooms = new Set([
  'gateway',
  'worker',
  'console',
  'packages',
  'clients',
  'tools',
  'test',
  'deploy',
])

t.test('every link and path in the documents leads somewhere', needsClone, async (t) => {
  for (const document of findDocuments()) {
    const text = readFileSync(join(root, document), 'utf8')
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? join(root, document) : join(root, dirname(document), path)
      t.ok(existsSync(file), `${document}: ${target}`)
      if (anchor === undefined || !file.endsWith('.md')) continue
      const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)]
      t.ok(
        headings.some(([, heading = '']) => anchorOf(heading) === anchor),
        `${document}: ${target}`,
      )
    }
    for (const [, path = ''] of text.matchAll(/`((?:\w+\/)+[\w./-]+)`/g)) {
      if (rooms.has(path.split('/', 1)[0]!))
        t.ok(existsSync(join(root, path)), `${document}: ${path}`)
    }
    t.pass(document)
  }
})
