// Writes the files that follow from tables in the code, each of which stands once: settings, errors,
// metrics, bad states and device fields. `generate/` has what is written. Reads the built code
// (`npm run generate` builds it) and prints the names of the files that it wrote. With --check it
// writes nothing, and exits with 1 if a file differs from what would be generated.
import { readFile, writeFile } from 'node:fs/promises'
import { format } from 'oxfmt'
import { alertGroup } from './generate/alerts.mjs'
import { kotlinList, sentence, swiftList, typeScriptList } from './generate/device-lists.mjs'
import { docsPage } from './generate/docs-page.mjs'
import { openApi } from './generate/open-api.mjs'
import {
  configurationPage,
  errorsPage,
  metricsPage,
  statesPage,
} from './generate/reference-pages.mjs'
import { kotlinRules, swiftRules, typeScriptRules } from './generate/retry-rules.mjs'

const read = (path) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
async function formatted(path, text) {
  const options = { printWidth: 100, singleQuote: true, semi: false }
  const { code, errors } = await format(path, text, options)
  if (errors.length > 0) throw new Error(errors[0].message)
  return code
}

/** Returns a file with another text between the lines of its two comments. */
async function block(path, comment, text) {
  const [start, end] = [`${comment} Generated from`, `${comment} End of what is generated.`]
  const file = await read(path)
  const from = file.indexOf('\n', file.indexOf(start)) + 1
  const to = file.lastIndexOf('\n', file.indexOf(end)) + 1
  if (!file.includes(start) || to < from) throw new Error(`${path}: no block to generate`)
  return formatted(path, `${file.slice(0, from)}${text}\n${file.slice(to)}`)
}

const files = {
  'clients/javascript/src/core/feedback-only.ts': typeScriptList(),
  'clients/kotlin/src/main/kotlin/intake/client/FeedbackOnly.kt': kotlinList(),
  'clients/swift/Sources/Intake/FeedbackOnly.swift': swiftList(),
  'clients/javascript/src/core/retry-rules.ts': typeScriptRules(),
  'clients/swift/Sources/Intake/RetryRules.swift': swiftRules(),
  'clients/kotlin/src/main/kotlin/intake/client/RetryRules.kt': kotlinRules(),
  'docs/errors.md': errorsPage(),
  'docs/configuration.md': configurationPage(),
  'docs/metrics.md': metricsPage(),
  'docs/operations/states.md': statesPage(),
}
/** Files that have a generated block, by the sign of its comments. */
const blocks = {
  'deploy/observability/alerts.yml': ['  #', alertGroup()],
  'docs/sending-from-flutter.md': ['<!--', `\n${sentence()}\n`],
}
const pages = {}
for (const [path, text] of Object.entries(files)) {
  pages[path] = /\.(ts|md)$/.test(path) ? await formatted(path, text) : text
}
for (const [path, [sign, text]] of Object.entries(blocks))
  pages[path] = await block(path, sign, text)
pages['gateway/docs.html'] = docsPage(
  [
    { name: 'quick-start.md', text: await read('docs/quick-start.md') },
    { name: 'sending.md', text: await read('docs/sending.md') },
    { name: 'errors.md', text: pages['docs/errors.md'] },
  ],
  openApi,
)
const check = process.argv.includes('--check')
for (const [path, page] of Object.entries(pages)) {
  if ((await read(path).catch(() => '')) === page) continue
  if (check) {
    console.error(`${path} differs from the code: run npm run generate`)
    process.exitCode = 1
  } else {
    await writeFile(new URL(`../../${path}`, import.meta.url), page)
    console.log(`wrote ${path}`)
  }
}
