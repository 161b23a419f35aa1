import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { until } from '@intake/test-kit/until'

const script = fileURLToPath(new URL('close-after-rotation.mjs', import.meta.url))

t.test('secrets are followed until the process has closed', async (t) => {
  const file = join(t.testdir({ password: 'one' }), 'password')
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, PASSWORD_FILE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  let output = ''
  child.stdout.on('data', (data) => (output += String(data)))
  await until('it is up', () => output.includes('"up"'))
  child.kill('SIGTERM')
  await until('it closes', () => output.includes('"closing"'))
  writeFileSync(file, 'two')
  t.same(await exit, [0, null])
})
