import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack } from '@intake/test-kit/running-stack'
import { checkExactlyOnce, events } from '../../packages/client/test/through-faults.ts'
import { buildKotlin, kotlinClassPath } from './kotlin-build.ts'
import { createKotlinDriver } from './kotlin-process.ts'

t.test(`${events} events of the Kotlin client become as many rows, each once`, async (t) => {
  await buildKotlin('-q', 'test-compile')
  const dataDir = createDataDir(t)
  const stack = await startStack(t, { dataDir, env: { RATE_LIMIT_MAX: '1000000' } })
  const createDriver = () => createKotlinDriver(kotlinClassPath())
  await checkExactlyOnce(t, { platform: 'kotlin', stack, dataDir, createDriver })
})
