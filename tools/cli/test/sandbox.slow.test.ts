import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import { postLog } from '@intake/test-kit/post'
import { createIntakeProcess, startIntake } from './services.ts'

t.test('the sandbox prints its URL and key, serves, and ends with a signal', async (t) => {
  const origins = ['--origin', 'http://a.example', 'http://sandbox:*']
  const { child, exited } = startIntake(t, ['sandbox', '--port', '0', ...origins])
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const [, url = '', key = ''] =
    /^Intake sandbox at (http:\/\/127\.0\.0\.1:\d+) with the API key (ik_sandbox)$/.exec(line) ?? []
  const { status } = await postLog({ url, apiKey: key }, { event: 'tap' })
  t.equal(status, 201, line)
  const stored = await fetch(`${url}/_sandbox/records`)
  const ofPage = { origin: 'http://a.example' }
  t.equal((await fetch(`${url}/_sandbox/faults`, { headers: ofPage })).status, 200)
  t.match(await stored.json(), { records: [{ kind: 'log', event: 'tap' }] })
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
})

t.test('a port or an origin that is none is refused', async (t) => {
  const intake = createIntakeProcess({ cwd: t.testdir({}), env: {} })
  for (const [option, value, reason] of [
    ['--port', 'many', 'It must be from 0 to 65535.'],
    ['--origin', 'sandbox', 'It must be an origin, such as http://sandbox:3100.'],
    ['--origin', '*', 'It must be an origin, such as http://sandbox:3100.'],
  ] as const) {
    t.match(await intake(['sandbox', option, value]), { code: 1, stderr: reason })
  }
})
