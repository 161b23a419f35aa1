import { readFileSync } from 'node:fs'
import t from 'tap'
import { GatewayConfig, WorkerConfig } from '@intake/config'

const lines = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8').split('\n')

t.test('compose publishes every port on loopback by default', async (t) => {
  const ports = lines.flatMap((line) => /[^\s'[\]]*:-\d+}:\d+(?=\W*$)/.exec(line)?.[0] ?? [])
  t.equal(ports.length, 9)
  for (const port of ports) t.match(port, /^(\$\{PUBLISH_HOST:-127\.0\.0\.1\}|127\.0\.0\.1):/)
})

t.test('compose creates no API key with a known default', async (t) => {
  const [, value] = lines.join('\n').match(/INTAKE_API_KEY: (.*)/) ?? []
  t.equal(value, '${INTAKE_API_KEY:-}')
})

t.test('compose has no page without a password of your own', async (t) => {
  const [, value] = lines.join('\n').match(/PAGE_PASSWORD: (.*)/) ?? []
  t.equal(value, '${PAGE_PASSWORD:-}')
})

/** The settings that compose passes to a service, with their values. */
function environmentOf(service: string): Map<string, string> {
  const text = lines.join('\n')
  const [, block = ''] =
    new RegExp(`^  ${service}:(?: &\\w+)?\\n([^]*?)(?=\\n\\S|\\n  \\w)`, 'm').exec(text) ?? []
  const [, own = ''] = /^    environment:\n((?: {6}.*\n)*)/m.exec(`${block}\n`) ?? []
  const [, s3 = ''] = /^x-s3: .*\n((?: {2}.*\n)*)/m.exec(text) ?? []
  const settings = own.includes('<<: *s3') ? own + s3 : own
  return new Map(
    Array.from(settings.matchAll(/^ +([A-Z]\w*): (.*)$/gm), ([, name, value]) => [name!, value!]),
  )
}

/** The settings that the image of a process sets: the addresses inside the container. */
function imageSettings(target: string): string[] {
  const dockerfile = readFileSync(new URL('../deploy/Dockerfile', import.meta.url), 'utf8')
  return ['runtime', target].flatMap((stage) => {
    const [, block = ''] = new RegExp(` AS ${stage}\\n([^]*?)(?=\\nFROM|$)`).exec(dockerfile) ?? []
    const values = [...block.matchAll(/^ENV (.*)$/gm)].map(([, value]) => value).join(' ')
    return Array.from(values.matchAll(/(\w+)=/g), ([, name]) => name!)
  })
}

for (const [service, config] of [
  ['gateway', GatewayConfig],
  ['worker', WorkerConfig],
] as const) {
  t.test(`compose can set all settings of the ${service}, and no others`, async (t) => {
    // The object store of compose has keys: it needs no account of AWS, and no container gets one.
    const settings = Object.keys(config.properties).filter((name) => !name.startsWith('AWS_'))
    const known = [...settings, 'LOG_LEVEL']
    const given = environmentOf(service)
    const fixed = imageSettings(service)
    t.same(
      known.filter((name) => !given.has(name) && !fixed.includes(name)),
      [],
      'not settable',
    )
    t.same(
      [...given.keys()].filter((name) => !known.includes(name)),
      [],
      'not known',
    )
    for (const [name, value] of given) {
      // Empty selects the default of the process.
      if (value.endsWith(':-}')) t.equal(value, `\${${name}:-}`)
    }
  })
}
