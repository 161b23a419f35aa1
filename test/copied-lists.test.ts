import { readFileSync } from 'node:fs'
import t from 'tap'
import { dayMs, documentedDeviceFields, limits } from '@intake/contract'
import * as client from '../clients/javascript/src/core/limits.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const kotlin = (name: string) => read(`clients/kotlin/src/main/kotlin/intake/client/${name}.kt`)
const swift = (name: string) => read(`clients/swift/Sources/Intake/${name}.swift`)

t.test('the page for Flutter names documented fields only', async (t) => {
  const page = read('docs/sending-from-flutter.md')
  const rows = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name!)
  t.ok(rows.length > 20)
  for (const name of rows) t.ok(documentedDeviceFields.has(name), name)
})

/**
 * Reads the constants of a source file, by name. A value is a number, or a product whose factors
 * are numbers or the constant for a day.
 */
function numbersOf(source: string, declaration: RegExp): Map<string, number> {
  const pairs = [...source.matchAll(declaration)].map(([, name, value]): [string, number] => {
    const factors = value!.replaceAll('_', '').replaceAll('DAYMS', String(dayMs)).split('*')
    return [name!, factors.reduce((product, factor) => product * Number.parseFloat(factor), 1)]
  })
  return new Map(pairs)
}

t.test('the clients for Kotlin and Swift keep to the limits of the contract', async (t) => {
  const ofKotlin = numbersOf(kotlin('Limits'), /const val (\w+) = ([\w *]+)/g)
  const ofSwift = numbersOf(swift('Limits'), /static let (\w+) = ([\w *.]+)/g)
  for (const [inKotlin, inSwift, expected] of [
    ['IDENTIFIER_MAX', 'identifier', limits.identifierLength],
    ['ATTACHMENTS_MAX', 'attachments', limits.attachments],
    ['EVENT_AGE_MS_MAX', 'eventAgeMs', limits.eventAgeMs - dayMs],
    ['SEGMENT_BYTES_MAX', 'segmentBytes', client.segmentBytesMax],
    ['FEEDBACK_MAX', 'feedback', client.feedbackMax],
    ['FEW_ATTEMPTS', 'fewAttempts', client.fewAttempts],
    ['GENERATIONS_MAX', 'generations', client.generationsMax],
    ['RETRY_AFTER_MS_MAX', 'retryAfterMs', client.retryAfterMsMax],
  ] as const) {
    t.equal(ofKotlin.get(inKotlin), expected, inKotlin)
    t.equal(ofSwift.get(inSwift), expected, inSwift)
  }
  t.equal(ofSwift.get('batchEntries'), limits.batchEntries)
})

t.test('users.sql has the rights of users.xml', (t) => {
  const grants = (text: string, pattern: RegExp) =>
    Array.from(text.matchAll(pattern), ([, grant]) => grant!.replaceAll(' (', '(')).toSorted()
  const users = read('deploy/clickhouse/users.xml')
  const cloud = read('deploy/clickhouse/users.sql')
  for (const user of ['worker', 'reader', 'analyst']) {
    const [, block = ''] = new RegExp(`<${user}>\\s*<password([^]*?)</${user}>`).exec(users) ?? []
    const inXml = grants(block, /<query>GRANT (.*)<\/query>/g)
    t.ok(inXml.length > 0, user)
    t.same(grants(cloud, new RegExp(`^GRANT (.*) TO ${user};$`, 'gm')), inXml, user)
  }
  t.end()
})

t.test('check-images.sh compiles and copies what the Dockerfile does', (t) => {
  const script = read('deploy/check-images.sh')
  const steps = [
    ...read('deploy/Dockerfile').matchAll(/tsc -b .*?(?= \\|$)|(?<=\/compiled )packages.*/gm),
  ]
  t.equal(steps.length, 2)
  for (const [step] of steps) t.ok(script.includes(step), step)
  t.end()
})
