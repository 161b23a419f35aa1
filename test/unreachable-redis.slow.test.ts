import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const nowhere = {
  REDIS_URL: 'redis://127.0.0.1:1',
  CLICKHOUSE_URL: 'http://intake:intake@127.0.0.1:1',
  S3_ENDPOINT: 'http://intake:intake-secret@127.0.0.1:1',
  PORT: '0',
  GATEWAY_ADMIN_PORT: '0',
  WORKER_ADMIN_PORT: '0',
}

for (const name of ['gateway', 'worker']) {
  t.test(`a ${name} that has never reached Redis ends on SIGTERM by itself`, async (t) => {
    const app = spawn(process.execPath, [`${name}/dist/main.js`], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...process.env, ...nowhere },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => app.kill('SIGKILL'))
    const exited = once(app, 'exit')
    const isUp = new Promise<void>((resolve) => {
      createInterface(app.stdout).on('line', (line) => {
        t.comment(line)
        if (line.includes(`${name} is up`)) resolve()
      })
    })
    await isUp
    app.kill('SIGTERM')
    t.same(await exited, [0, null], 'not killed by the timeout')
  })
}
