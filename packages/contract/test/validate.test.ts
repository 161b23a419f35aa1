import t from 'tap'
import { IntakeError, momentDeviceFields, type FieldError } from '../src/index.ts'
import {
  compileSchema,
  DeviceInformation,
  FeedbackPayload,
  LogEntry,
} from '../src/schemas/index.ts'

const payload = (device: object, feedback: object, device_uuid: string) => ({
  bundle_identifier: 'com.example.app',
  device,
  device_uuid,
  unique_user_id: 'user-1',
  feedback: { text: 'It broke.', ...feedback },
})

function errorsOf(validate: (value: unknown) => unknown, value: unknown): readonly FieldError[] {
  try {
    validate(value)
  } catch (error) {
    if (error instanceof IntakeError) return error.errors
    throw error
  }
  return []
}

t.test('errors describe in words what a field must be', async (t) => {
  const validate = compileSchema(FeedbackPayload)
  const found = errorsOf(validate, payload({}, { email: 'nobody' }, 'x'))
  t.strictSame(
    Object.fromEntries(found.map(({ pointer, detail }) => [pointer, detail.split(',', 1)[0]])),
    {
      '/device_uuid': 'must be a UUID',
      '/feedback/email': 'must be an e-mail address',
    },
  )
})

t.test('an empty text gets the error "must not be empty"', async (t) => {
  const errors = errorsOf(compileSchema(LogEntry), { event: '' })
  t.same(errors, [{ pointer: '/event', detail: 'must not be empty' }])
})

t.test('dates and times of a device are any string, and nothing but a string', async (t) => {
  const validate = compileSchema(DeviceInformation)
  for (const { name } of momentDeviceFields) {
    for (const value of ['', 'unknown', '2016-02', '1.2.2026', '2026-11-05', null]) {
      t.same(errorsOf(validate, { [name]: value }), [])
    }
    for (const value of [0, -1, true, ['2026-11-05'], {}]) {
      t.match(errorsOf(validate, { [name]: value }), [{ pointer: `/${name}` }])
    }
  }
})

t.test('an integer that no column holds exactly gets the reason', async (t) => {
  const validate = compileSchema(DeviceInformation)
  const cases = [
    [
      'battery_level',
      2n ** 53n + 1n,
      'must be a number that a double (64-bit floating point) holds exactly',
    ],
    ['sdk_version', 2n ** 63n, 'must be from -2^63 to 2^63 - 1'],
    ['sdk_version', 1e18, 'must have no exponent or fraction beyond 2^53'],
    ['sdk_version', -1e18, 'must have no exponent or fraction beyond 2^53'],
  ] as const
  for (const [name, value, detail] of cases) {
    t.same(errorsOf(validate, { [name]: value }), [{ pointer: `/${name}`, detail }])
    t.match(errorsOf(validate, { [name]: 'x' }), [{ detail: /^must be either/ }])
  }
})

t.test('the published pattern of an e-mail allows the white space that is removed', async (t) => {
  const validate = compileSchema(FeedbackPayload)
  const device_uuid = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'
  for (const email of ['a@b.example', ' a@b.example', 'a@b.example\n', '\ta@b.example \u00a0'])
    t.same(errorsOf(validate, payload({}, { email }, device_uuid)), [], JSON.stringify(email))
  for (const email of [' ', 'a b@c.example', 'a@b .example', ' @ '])
    t.match(
      errorsOf(validate, payload({}, { email }, device_uuid)),
      [{ pointer: '/feedback/email' }],
      JSON.stringify(email),
    )
})

t.test('lengths are counted in code points', async (t) => {
  const validate = compileSchema(LogEntry)
  t.same(errorsOf(validate, { event: '😀'.repeat(255) }), [])
  t.match(errorsOf(validate, { event: '😀'.repeat(256) }), [{ pointer: '/event' }])
})
