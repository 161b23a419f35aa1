import t from 'tap'
import {
  compileSchema,
  DeviceInformation,
  FeedbackPayload,
  IntakeError,
  LogEntry,
  momentDeviceFields,
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
  const found = errorsOf(() => validate(payload({}, { email: 'nobody' }, 'x')))
  t.strictSame(
    Object.fromEntries(found.map(({ pointer, detail }) => [pointer, detail.split(',', 1)[0]])),
    {
      '/device_uuid': 'must be a UUID',
      '/feedback/email': 'must be an e-mail address',
    },
  )
})

t.test('an empty text gets the error "must not be empty"', async (t) => {
  const errors = errorsOf(() => compileSchema(LogEntry)({ event: '' }))
  t.same(errors, [{ pointer: '/event', detail: 'must not be empty' }])
})

t.test('dates and times of a device are any string, and nothing but a string', async (t) => {
  const validate = compileSchema(DeviceInformation)
  for (const { name } of momentDeviceFields) {
    for (const value of ['', 'unknown', '2016-02', '1.2.2026', '2026-11-05', null]) {
      t.same(
        errorsOf(() => validate({ [name]: value })),
        [],
      )
    }
    for (const value of [0, -1, true, ['2026-11-05'], {}]) {
      t.match(
        errorsOf(() => validate({ [name]: value })),
        [{ pointer: `/${name}` }],
      )
    }
  }
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
