import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { createIntake } from './in-process.ts'

const intake = createIntake({ cwd: createDataDir(t), env: { REDIS_URL: 'redis://127.0.0.1:1' } })
const add = (given: string) => intake(['alerts', 'add', ...given.split(' ').filter(Boolean)])

t.test('an alert that cannot be meant is refused before anything is changed', async (t) => {
  const app = '--bundle com.example.app'
  for (const [given, problem] of [
    ['--event a --above 1', '--bundle'],
    ['--bundle com.example.* --event a --above 1', 'whole bundle identifier'],
    [`${app} --above 1`, 'Give --event, or --new-crash'],
    [`${app} --event a --new-crash`, 'Give --event, or --new-crash'],
    [`${app} --event a`, 'Give one of --above'],
    [`${app} --event a --above 1 --below 1`, 'Give one of --above'],
    [`${app} --event a --above many`, 'Give a number.'],
    [`${app} --event a --times 5%`, 'Give a number.'],
    [`${app} --event a --below 0`, 'silence is --below 1'],
    [`${app} --event a --above 1 --in 10d`, 'Give minutes or hours'],
    [`${app} --event a --above 1 --in 25h`, 'at most 24h'],
  ] as const) {
    t.match(await add(given), { code: 1, stdout: '', stderr: problem }, given)
  }
})
