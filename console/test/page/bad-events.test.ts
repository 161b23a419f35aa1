import t from 'tap'
import { isBadEvent } from '../../src/page/bad-events.ts'

t.test('a crash or an error is told by the last word of its name', async (t) => {
  const bad = 'crash app_crash payment_failed NetworkError login.failure ANR APP_CRASH anr'.split(
    ' ',
  )
  const good = 'error_resolved errors_page failover terror Terror crashpad_sent scanr'.split(' ')
  t.same(
    bad.filter((name) => !isBadEvent(name)),
    [],
  )
  t.same(good.filter(isBadEvent), [])
})
