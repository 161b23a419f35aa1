import t from 'tap'
import { isRefusal, ReplyError } from '../src/index.ts'

t.test('only what Redis has certainly not executed is a refusal', async (t) => {
  const tooMany = (last: Error) =>
    new Error(`Too many Cluster redirections. Last error: ${String(last)}`)
  t.ok(isRefusal(new ReplyError('OOM command not allowed')))
  t.ok(isRefusal(tooMany(new ReplyError('MOVED 1 127.0.0.1:7000'))))
  t.notOk(isRefusal(tooMany(new Error('Connection is closed.'))))
  t.notOk(isRefusal(new Error('Command timed out')))
})
