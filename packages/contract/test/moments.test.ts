import t from 'tap'
import { Type } from 'typebox'
import { compileCheck, isDate, isTimestamp } from '../src/schemas/index.ts'

t.test('a timestamp exists, has an offset with a colon, and is from 1970 to 2199', async (t) => {
  for (const text of ['2026-11-21T06:30:00+01:00', '2024-02-29T23:59:59.123456789Z']) {
    t.ok(isTimestamp(text), text)
  }
  for (const text of [
    '',
    '2026-11-21',
    '2026-11-21T06:30:00',
    '2026-11-21T06:30:00+0100',
    '2026-11-21 06:30:00Z',
    '1969-12-31T23:59:59Z',
    '2200-01-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T23:59:60Z',
    '2026-11-21T06:30:00+24:00',
    '2026-11-21T06:30:00Z ',
  ]) {
    t.notOk(isTimestamp(text), text)
  }
})

t.test('a date exists, and is from 1970 to 2199', async (t) => {
  for (const text of ['1970-01-01', '2024-02-29', '2199-12-31']) t.ok(isDate(text), text)
  for (const text of [
    '',
    '2016-02',
    '2023-02-29',
    '1969-12-31',
    '2026-11-05 ',
    '2026-11-05T00:00Z',
  ]) {
    t.notOk(isDate(text), text)
  }
})

t.test('every timestamp is a moment for JavaScript', async (t) => {
  for (const offset of [
    'Z',
    '+14:00',
    '-12:00',
    '+23:59',
    '-23:59',
    '+00:00',
    '+99:99',
    '+23:60',
  ]) {
    const text = `2026-11-21T06:30:00${offset}`
    t.notOk(isTimestamp(text) && Number.isNaN(Date.parse(text)), text)
  }
})

t.test('moments that differ in one character are judged as by the schema', async (t) => {
  const day = String.raw`(19[7-9]|2[01]\d)\d-\d\d-\d\d`
  const time = String.raw`T\d\d:\d\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)`
  const forms = [
    { is: isDate, format: 'date', pattern: `^${day}$`, texts: ['2026-02-28', '2199-12-30'] },
    {
      is: isTimestamp,
      format: 'date-time',
      pattern: `^${day}${time}$`,
      texts: [
        '1970-01-28T23:59:59Z',
        '2026-02-28T06:30:00.123456789Z',
        '2026-11-21T06:30:00+01:00',
      ],
    },
  ]
  for (const { is, format, pattern, texts } of forms) {
    const reference = compileCheck(Type.String({ format, pattern }))
    const judged = { true: 0, false: 0 }
    for (const text of texts) {
      for (let at = 0; at <= text.length; at++) {
        for (const letter of '0123456789-:.TZz+ \n') {
          for (const end of [text.slice(at), text.slice(at + 1)]) {
            const changed = `${text.slice(0, at)}${letter}${end}`
            const expected = reference(changed)
            judged[`${expected}`]++
            if (is(changed) !== expected) t.fail(`${changed} is ${expected ? 'a' : 'no'} ${format}`)
          }
        }
      }
    }
    t.ok(judged.true > 50 && judged.false > 100, `${judged.true} valid, ${judged.false} invalid`)
  }
})
