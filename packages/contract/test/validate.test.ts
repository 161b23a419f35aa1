import t from 'tap'
import {
  compileSchema,
  FeedbackPayload,
  IntakeError,
  LogEntry,
  type FieldError,
} from '../src/index.ts'

const payload = (device: object, feedback: object, device_uuid: string) => ({
  bundle_identifier: 'com.example.app',
  device,
  device_uuid,
  unique_user_id: 'user-1',
  feedback: { text: 'It broke.', ...feedback },
})

function errorsOf(validate: () => unknown): readonly FieldError[] {
  try {
    validate()
  } catch (error) {
    if (error instanceof IntakeError) return error.errors
    throw error
  }
  return []
}

t.test('errors describe in words what a field must be', async (t) => {
  const validate = compileSchema(FeedbackPayload)
  const device = { build_security_patch: '1.2.2026', build_time: '2026-01-01' }
  const found = errorsOf(() => validate(payload(device, { email: 'nobody' }, 'x')))
  t.strictSame(
    Object.fromEntries(found.map(({ pointer, detail }) => [pointer, detail.split(',', 1)[0]])),
    {
      '/device/build_security_patch': 'must be a date from 1970 to 2199',
      '/device/build_time': 'must be an ISO 8601 timestamp from 1970 to 2199',
      '/device_uuid': 'must be a UUID',
      '/feedback/email': 'must be an e-mail address',
    },
  )
})

t.test('an empty text gets the error "must not be empty"', async (t) => {
  const errors = errorsOf(() => compileSchema(LogEntry)({ event: '' }))
  t.same(errors, [{ pointer: '/event', detail: 'must not be empty' }])
})

t.test('the offset of a timestamp needs a colon', async (t) => {
  const validate = compileSchema(LogEntry)
  const errors = (timestamp: string) => errorsOf(() => validate({ event: 'e', timestamp }))
  t.match(errors('2026-11-21T06:30:00+0100'), [{ pointer: '/timestamp', detail: /\+01:00$/ }])
  t.match(errors('1969-12-31T23:59:59Z'), [{ detail: /from 1970/ }])
  t.same(errors('2026-11-21T06:30:00+01:00'), [])
})

t.test('lengths are counted in code points', async (t) => {
  const validate = compileSchema(LogEntry)
  t.same(
    errorsOf(() => validate({ event: '😀'.repeat(255) })),
    [],
  )
  t.match(
    errorsOf(() => validate({ event: '😀'.repeat(256) })),
    [{ pointer: '/event' }],
  )
})
