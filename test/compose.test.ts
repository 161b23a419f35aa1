import { readFileSync } from 'node:fs'
import t from 'tap'

const lines = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8').split('\n')

t.test('compose publishes every port on loopback, unless an operator says otherwise', async (t) => {
  const ports = lines.flatMap((line) => /[^\s'[\]]*:-\d+}:\d+(?=\W*$)/.exec(line)?.[0] ?? [])
  t.equal(ports.length, 6)
  for (const port of ports) t.match(port, /^(\$\{PUBLISH_HOST:-127\.0\.0\.1\}|127\.0\.0\.1):/)
})

t.test('compose creates no API key that is known beforehand', async (t) => {
  const [, value] = lines.join('\n').match(/INTAKE_API_KEY: (.*)/) ?? []
  t.equal(value, '${INTAKE_API_KEY:-}')
})
