import { writeFileSync } from 'node:fs'
import t from 'tap'
import { problemsOf } from '@intake/runtime'
import { createDataDir } from '@intake/test-kit/data-dir'
import { readConfig } from '../../src/stack/config.ts'

t.test('all wrong settings of the stack, gateway and worker are named at once', async (t) => {
  const wrong = {
    PORT: 'x',
    WORKERS: '-1',
    RATE_LIMIT_MAX: '10k',
    CORS_ORIGINS: 'app.example',
    TRUST_PROXY: 'yes',
    PAGE_PASSWORD: 'short',
    S3_PREFIX: '/a',
  }
  const problems = problemsOf(() => readConfig(wrong))
  const named = new Set(problems.map((problem) => problem.split(' ')[0]))
  t.same([...named].toSorted(), Object.keys(wrong).toSorted())
  for (const value of ['10k', 'app.example ', 'yes', 'short']) t.notMatch(problems.join(), value)
})

t.test('with nothing set, or with URLs in files, nothing is wrong', async (t) => {
  const file = `${createDataDir(t)}/url`
  writeFileSync(file, 'redis://127.0.0.1:6390')
  t.equal(readConfig({}).PORT, 3000)
  t.equal(readConfig({ REDIS_URL_FILE: file }).REDIS_URL, 'redis://127.0.0.1:6390')
})
