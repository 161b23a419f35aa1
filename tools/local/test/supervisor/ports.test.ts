import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'

import { pickPort } from '../../src/supervisor/ports.ts'

/**
 * The number of ports per process. It is so large that two processes would almost certainly pick
 * some ports twice if `pickPort` did not mark the ports that it picks.
 */
const count = 300

t.test('no port is picked twice, by this process or another one that still runs', async (t) => {
  const fixture = fileURLToPath(new URL('pick-ports.ts', import.meta.url))
  const options = ['--import=tsx', '--conditions=intake:source']
  const other = spawn(process.execPath, [...options, fixture, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => other.kill('SIGKILL'))
  const line = once(createInterface(other.stdout), 'line') as Promise<[string]>
  const ports: number[] = []
  while (ports.length < count) ports.push(await pickPort())
  ports.push(...(JSON.parse((await line)[0]) as number[]))
  t.equal(new Set(ports).size, 2 * count)
})

t.test('a picked port can be listened on', async (t) => {
  const server = createServer().listen(await pickPort(), '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
})
