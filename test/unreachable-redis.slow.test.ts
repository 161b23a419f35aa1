import t from 'tap'
import { startApp } from '@intake/test-kit/app'
import { createDataDir } from '@intake/test-kit/data-dir'

const nowhere = {
  REDIS_URL: 'redis://127.0.0.1:1',
  CLICKHOUSE_URL: 'http://intake:intake@127.0.0.1:1',
  S3_ENDPOINT: 'http://intake:intake-secret@127.0.0.1:1',
  PORT: '0',
}

for (const name of ['gateway', 'worker'] as const) {
  t.test(`a ${name} that has never reached Redis ends on SIGTERM by itself`, async (t) => {
    const app = await startApp(t, name, { dataDir: createDataDir(t), env: nowhere })
    t.equal(await app.terminate(), 0, 'not killed by the timeout')
  })
}
