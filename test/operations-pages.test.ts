import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { errorCatalogue } from '@intake/contract'
import { problemCatalogue } from '@intake/health/problem-catalogue'

const root = fileURLToPath(new URL('..', import.meta.url))
const pagesDir = join(root, 'docs/operations')
const pages = readdirSync(pagesDir).filter((name) => name !== 'README.md')
const read = (page: string) => readFileSync(join(pagesDir, page), 'utf8')

const sourceDirs = [
  'gateway/src',
  'worker/src',
  'console/src',
  'tools/cli/src',
  'tools/local/src',
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`),
]
const sources = sourceDirs.flatMap((dir) =>
  readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, dir, name), 'utf8')),
)
const source = sources.join('\n')
/** The source with concatenated string literals joined, as they are printed. */
const printed = source.replaceAll(/['`] \+\s+['`]/g, '')

/** Texts that the source does not contain, because the library that stops processes prints them. */
const printedByOthers = new Set(['killed by timeout'])

t.test('every page that a log line or an error names exists', async (t) => {
  const named = Array.from(
    source.matchAll(/docs\/operations\/([^\s'`)]+\.md)/g),
    ([, page]) => page!,
  )
  t.ok(named.length >= 10, `${named.length} places`)
  for (const page of named) {
    // A computed part of a page's name (`${…}`) matches any text.
    const pattern = new RegExp(`^${page.replaceAll(/\$\{[^}]*\}/g, '.+')}$`)
    t.ok(
      pages.some((one) => pattern.test(one)),
      page,
    )
  }
})

t.test('every line at level warn, error and fatal names a page', async (t) => {
  // Matches each log call up to the first quote, where its message begins.
  const lines = source.match(/\blog(?:\.(?:warn|error|fatal)|\[level\])\([^'`]*/g) ?? []
  t.ok(lines.length >= 20, `${lines.length} lines`)
  for (const line of lines) t.match(line, /\bhelp\b/, line)
})

t.test('every kind of insert failure has its page', async (t) => {
  const [, kinds = ''] = /type FailureKind = ([^\n]*)/.exec(source) ?? []
  const codes = Array.from(kinds.matchAll(/'(\w+)'/g), ([, kind]) => `insert_${kind}`)
  t.ok(codes.length >= 4)
  for (const code of codes) t.ok(code in problemCatalogue, code)
})

t.test('symptoms and states name every page, and pages link to pages that exist', async (t) => {
  const listed = ['README.md', 'states.md'].flatMap((page) =>
    Array.from(read(page).matchAll(/\]\(([\w-]+\.md)(?:#\w+)?\)/g), ([, it]) => it!),
  )
  t.same(new Set(listed), new Set(pages))
  for (const page of pages) {
    for (const [, target] of read(page).matchAll(/\]\(([\w-]+\.md)\)/g)) {
      t.ok(pages.includes(target!), `${page}: ${target}`)
    }
  }
})

t.test('the processes print the listed symptoms', async (t) => {
  const [, problems = ''] = /^## Problems$([^]*?)^At a glance/m.exec(read('README.md')) ?? []
  const symptoms = Array.from(problems.matchAll(/`([^`]{2,})`/g), ([, it]) => it!)
  t.ok(symptoms.length >= 20, `${symptoms.length} symptoms`)
  for (const symptom of symptoms.filter((it) => it.includes(' ') && !printedByOthers.has(it))) {
    for (const part of symptom.split('…')) t.ok(printed.includes(part.trim()), symptom)
  }
})

t.test('the metrics that pages name exist', async (t) => {
  const named = ['README.md', ...pages].flatMap((page) => read(page).match(/intake_\w+_\w+/g) ?? [])
  t.ok(named.length >= 10)
  const names = named.map((name) => name.replace(/_(sum|count|bucket)$/, ''))
  for (const name of new Set(names)) t.ok(source.includes(`'${name}'`), name)
})

t.test('the page on refused requests explains every code with status 503', async (t) => {
  const page = read('request-refused.md')
  for (const [code, { status }] of Object.entries(errorCatalogue)) {
    if (status === 503) t.match(page, new RegExp(`^\\| \`${code}\``, 'm'), code)
  }
})
