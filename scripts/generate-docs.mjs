// Generates docs/errors.md and docs/configuration.md from the code. With --check it writes nothing and
// exits with 1 if a page differs from the code.
import { readFile, writeFile } from 'node:fs/promises'
import { format } from 'prettier'
import { GatewayConfig } from '../gateway/dist/config.js'
import { errorCatalogue } from '../packages/contract/dist/index.js'
import { StackConfig } from '../packages/stack/dist/config.js'
import { WorkerConfig } from '../worker/dist/config.js'

const generated = '<!-- Generated from the code by `npm run docs`. Do not edit. -->\n\n'

function retry(status, retryable) {
  if (status === 500) return 'at most three times'
  return retryable ? 'yes, after `Retry-After`' : 'no'
}

function errorsPage() {
  const rows = Object.entries(errorCatalogue).map(
    ([code, { status, retryable, title }]) =>
      `| ${status} | \`${code}\` | ${title} | ${retry(status, retryable)} |`,
  )
  return `# Errors

${generated}Every error response is \`application/problem+json\` (RFC 9457) with \`type\`
(\`urn:intake:error:\` and the code), \`title\`, \`status\`, \`detail\`, \`code\`, \`errors\` (JSON pointers to
the invalid fields) and \`request_id\`. It never contains submitted values.

Retry on network errors and where the table says so. 503 means that nothing was stored,
except with \`outcome_unknown\`. 500 is a fault of Intake: the record may or may not be stored; retry at
most three times, with the same id or key. Do not retry any other 4xx.

| Status | Code | Title | Retry? |
| --- | --- | --- | --- |
${rows.join('\n')}
`
}

function settingsTable({ properties, required }) {
  const rows = Object.entries(properties).map(([name, { description, default: preset }]) => {
    const without = required.includes(name) ? 'required' : 'none'
    return `| \`${name}\` | ${preset === undefined ? without : `\`${preset}\``} | ${description} |`
  })
  return `| Variable | Default | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}`
}

function configurationPage() {
  return `# Configuration

${generated}Each process reads its settings from the environment. If any are invalid, it reports
all of them at once and exits with code 1. \`LOG_LEVEL\` (trace, debug, info, warn or error; default
\`info\`) applies to all processes.

## Gateway

${settingsTable(GatewayConfig)}

## Worker

${settingsTable(WorkerConfig)}

## \`npm start\`

The gateway and the workers inherit its environment, so the settings above work too, except \`HOST\` and
\`ADMIN_HOST\`: \`npm start\` serves only this machine.

${settingsTable(StackConfig)}
`
}

const pages = { 'docs/errors.md': errorsPage(), 'docs/configuration.md': configurationPage() }
const check = process.argv.includes('--check')
for (const [path, text] of Object.entries(pages)) {
  const url = new URL(`../${path}`, import.meta.url)
  const page = await format(text, { parser: 'markdown', printWidth: 100 })
  if (!check) {
    await writeFile(url, page)
  } else if ((await readFile(url, 'utf8').catch(() => '')) !== page) {
    console.error(`${path} differs from the code: run npm run docs`)
    process.exitCode = 1
  }
}
