import { writeFileSync } from 'node:fs'
import t from 'tap'
import { problemsOf } from '@intake/runtime'
import { createDataDir } from '@intake/test-kit/data-dir'
import { readConfig, warnOfMemory } from '../../src/stack/config.ts'

t.test('all wrong settings of the stack, gateway and worker are named at once', async (t) => {
  const wrong = {
    PORT: 'x',
    WORKERS: '-1',
    RATE_LIMIT_MAX: '10k',
    CORS_ORIGINS: 'elsewhere.test',
    TRUST_PROXY: 'yes',
    PAGE_PASSWORD: 'short',
    S3_PREFIX: '/a',
  }
  const problems = problemsOf(() => readConfig(wrong))
  const named = new Set(problems.map((problem) => problem.split(' ')[0]))
  t.same(named, new Set(Object.keys(wrong)))
  for (const value of ['10k', 'elsewhere.test', 'yes', 'short']) t.notMatch(problems.join(), value)
})

t.test('with nothing set, or with URLs in files, nothing is wrong', async (t) => {
  const file = `${createDataDir(t)}/url`
  writeFileSync(file, 'redis://127.0.0.1:6390')
  t.equal(readConfig({}).PORT, 3000)
  t.equal(readConfig({ REDIS_URL_FILE: file }).REDIS_URL, 'redis://127.0.0.1:6390')
})

t.test('a small memory of Redis is warned of, no limit and 128mb are not', async (t) => {
  for (const small of ['1', '100kb', '8mb', '127mb', '128m', '130000k']) {
    t.match(warnOfMemory(small), `REDIS_MAXMEMORY is ${small}, less than 128mb`)
  }
  for (const enough of ['0', '128mb', '512mb', '1g', '135m'])
    t.equal(warnOfMemory(enough), undefined)
})
