import t from 'tap'
import type { Alert } from '@intake/access'
import { judge, type AlertState } from '../../src/alerts/judge.ts'

const alert = (condition: Alert['condition'], threshold: number, unit: Alert['unit'] = 'events') =>
  ({ condition, threshold, unit }) as Alert
t.test('a state is what is certain', async (t) => {
  const cases: [
    Alert,
    { value: number | undefined; usual?: number; wasRefused?: boolean },
    'calm' | 'behind',
    AlertState,
  ][] = [
    [alert('above', 100), { value: 101 }, 'calm', 'firing'],
    [alert('above', 100), { value: 100 }, 'calm', 'ok'],
    [alert('above', 100), { value: 101 }, 'behind', 'firing'],
    [alert('above', 100), { value: 100 }, 'behind', 'unknown'],
    [alert('above', 100), { value: 0, wasRefused: true }, 'calm', 'ok'],
    [alert('above', 100), { value: undefined }, 'calm', 'unknown'],
    [alert('below', 1), { value: 0 }, 'calm', 'firing'],
    [alert('below', 1), { value: 1 }, 'calm', 'ok'],
    [alert('below', 1), { value: 0 }, 'behind', 'unknown'],
    [alert('below', 1), { value: 1 }, 'behind', 'ok'],
    [alert('below', 1), { value: 0, wasRefused: true }, 'calm', 'unknown'],
    [alert('below', 1), { value: undefined }, 'calm', 'unknown'],
    [alert('times', 3), { value: 31, usual: 10 }, 'calm', 'firing'],
    [alert('times', 3), { value: 30, usual: 10 }, 'calm', 'ok'],
    [alert('times', 3), { value: 3, usual: 0 }, 'calm', 'ok'],
    [alert('times', 3), { value: 4, usual: 0 }, 'calm', 'firing'],
    [alert('times', 3), { value: 31 }, 'calm', 'unknown'],
    [alert('times', 3), { value: 31, usual: 10 }, 'behind', 'firing'],
    [alert('above', 5, 'percent'), { value: 6 }, 'calm', 'firing'],
    [alert('above', 5, 'percent'), { value: 6 }, 'behind', 'unknown'],
    [alert('below', 5, 'percent'), { value: 6 }, 'behind', 'unknown'],
    [alert('new-crash', 0), { value: 1 }, 'calm', 'firing'],
    [alert('new-crash', 0), { value: 0 }, 'calm', 'ok'],
    [alert('new-crash', 0), { value: 0 }, 'behind', 'unknown'],
  ]
  for (const [one, found, records, state] of cases) {
    const title = JSON.stringify([one, found, records])
    t.equal(judge(one, found, records === 'behind'), state, title)
  }
})
