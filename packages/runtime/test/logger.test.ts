import t from 'tap'
import { createLogger } from '../src/logger.ts'

t.test('of an error only type, message, code, stack and cause are logged', async (t) => {
  const lines: string[] = []
  const log = createLogger({
    name: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  })
  // What ioredis and Node hang on their errors: commands, URLs, and with them passwords.
  const reply = Object.assign(new Error('WRONGPASS'), {
    command: { args: ['AUTH', 'the-password'] },
  })
  const url = Object.assign(new TypeError('Invalid URL'), {
    code: 'ERR_INVALID_URL',
    input: 'https://key:the-password@host',
  })
  log.error({ err: new Error('cannot start', { cause: url }) })
  log.error({ err: reply })
  t.match(JSON.parse(lines[0] ?? ''), {
    err: { message: 'cannot start', cause: { type: 'TypeError', code: 'ERR_INVALID_URL' } },
  })
  t.match(JSON.parse(lines[1] ?? ''), { err: { message: 'WRONGPASS' } })
  t.notMatch(lines.join(''), 'the-password')
})
