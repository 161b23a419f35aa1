import { createHmac, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import t from 'tap'
import {
  applyEdits,
  compileRules,
  conditions,
  findRuleProblem,
  type RuleChoice,
} from '../src/index.ts'
import { deviceShare } from '../src/rules/device-share.ts'
import { editPaths, type Change } from '../src/rules/edit-paths.ts'
import { parseRule } from '../src/rules/rule.ts'

const secretBytes = Buffer.from('a secret')
const secret = secretBytes.toString('base64')

const asRule = (choice: RuleChoice, index = 0) => ({
  ...choice,
  id: `rule_${String(index + 1).padStart(12, '0')}`,
  createdAt: '2026-11-26T00:00:00.000Z',
  createdBy: 'test',
})
const compile = (choices: readonly RuleChoice[]) =>
  compileRules({ rules: choices.map(asRule), secret })

/** What these rules say about an event named `a`. */
const rulingOf = (...choices: RuleChoice[]) =>
  compile(choices).forSender('logs', 'key_1', sender())!.judge('a')!

const sender = (device: object = {}, fields: object = {}) => ({
  bundle_identifier: 'com.example.app',
  device,
  device_uuid: '6f9619ff-8b86-4d01-b42d-00c04fc964ff',
  unique_user_id: 'user-1',
  ...fields,
})

t.test('a rule is met only if every condition holds', async (t) => {
  const device = { os: 'Android', version_code: 120, version_name: '1.2.0' }
  const meets = (match: RuleChoice['match'], sent: object = device, event = 'screen_view') =>
    compile([{ action: 'drop', match }])
      .forSender('logs', 'key_1', sender(sent))
      ?.judge(event) !== undefined
  const all = {
    bundle: 'com.example.app',
    event: 'screen_view',
    versionCodeBelow: 121,
    versionCodeFrom: 120,
    versionName: '1.2.0',
    os: 'android',
    apiKeyId: 'key_1',
  }
  t.ok(meets(all))
  t.ok(meets({ eventPrefix: 'screen_' }))
  const others = {
    bundle: 'com.example.other',
    event: 'screen',
    versionCodeBelow: 120,
    versionCodeFrom: 121,
    versionName: '1.2',
    os: 'iOS',
    apiKeyId: 'key_2',
  }
  for (const [name, value] of Object.entries(others)) {
    t.notOk(meets({ ...all, versionCodeFrom: 1, [name]: value }), name)
  }
  t.notOk(meets({ eventPrefix: 'Screen' }))
  t.ok(meets({ versionCodeFrom: 2 }, { version_code: 9_007_199_254_740_993n }), 'a large integer')
})

t.test('a condition that cannot be decided is not met', async (t) => {
  for (const version_code of [undefined, null, '120', '']) {
    const rules = compile([
      { action: 'drop', match: { versionCodeBelow: 1_000 } },
      { action: 'drop', match: { versionCodeFrom: 0 } },
    ])
    const device = { version_code } as never
    t.equal(rules.forSender('logs', 'key_1', sender(device))?.judge('a'), undefined)
  }
  for (const match of [{ os: 'null' }, { versionName: 'null' }, { os: 'undefined' }]) {
    const rules = compile([{ action: 'drop', match }])
    const nothing = { os: null, version_name: null } as never
    t.equal(rules.forSender('logs', 'key_1', sender(nothing))?.judge('a'), undefined)
  }
})

t.test('a feedback meets the rules that are not about events, and is never sampled', async (t) => {
  const judge = (choice: RuleChoice) =>
    compile([choice])
      .forSender('feedback', 'key_1', sender({ os: 'iOS' }))
      ?.judge(undefined)
  t.match(judge({ action: 'drop', match: { os: 'ios' } }), { outcome: 'dropped' })
  t.match(judge({ action: 'remove', path: 'device.os', match: {} }), { outcome: 'accepted' })
  t.equal(judge({ action: 'drop', match: { os: 'ios', kind: 'logs' } }), undefined)
  t.equal(judge({ action: 'drop', match: { os: 'ios', event: 'a' } }), undefined)
  t.equal(judge({ action: 'drop', match: { os: 'ios', eventPrefix: 'a' } }), undefined)
  t.equal(judge({ action: 'sample', rate: 0.1, match: {} }), undefined)
  t.equal(judge({ action: 'remove', path: 'params.email', match: {} }), undefined)
})

t.test('drop decides alone, then the lowest rate; changes add up', async (t) => {
  const rules = compile([
    { action: 'hash', path: 'params.a', match: {} },
    { action: 'sample', rate: 0.5, match: {} },
    { action: 'sample', rate: 0.001, match: {} },
    { action: 'drop', match: { event: 'noise' } },
  ])
  const of = rules.forSender('logs', 'key_1', sender())
  t.match(of?.judge('noise'), { outcome: 'dropped', acted: [{ rule: { action: 'drop' } }] })
  t.match(of?.judge('tap'), {
    outcome: 'sampled',
    sampleRate: 0.001,
    acted: [{ rule: { rate: 0.001 } }],
  })
})

t.test('a lower rate keeps some devices of a higher one, as many as it says', async (t) => {
  const devices = Array.from({ length: 20_000 }, () => randomUUID())
  const kept = (rate: number) => {
    const rules = compile([{ action: 'sample', rate, match: {} }])
    return devices.filter((device_uuid) => {
      const of = rules.forSender('logs', 'key_1', sender({}, { device_uuid }))
      return of?.judge('a')?.outcome === 'accepted'
    })
  }
  const [few, many] = [kept(0.1), new Set(kept(0.5))]
  t.ok(few.every((device) => many.has(device)))
  t.ok(Math.abs(few.length - 2_000) < 300, `${few.length} of 20,000`)
  t.ok(Math.abs(many.size - 10_000) < 500, `${many.size} of 20,000`)
})

t.test('the share of a device is its MurmurHash3, in either case of its UUID', async (t) => {
  const uuid = '6f9619ff-8b86-4d01-b42d-00c04fc964ff'
  t.equal(deviceShare(uuid) * 2 ** 32, 2_147_059_672)
  t.equal(deviceShare(uuid), deviceShare(uuid.toUpperCase()))
})

const editPath = (value: unknown, path: string, change: Change) =>
  editPaths(value, [{ path, change, onChange() {} }])
const remove = (value: unknown, path: string) => editPath(value, path, () => undefined)

t.test('a path finds every form that queries see, and changes nothing in place', async (t) => {
  const cases: [sent: unknown, left: unknown][] = [
    [{ email: 'a', x: 1 }, { x: 1 }],
    [{ user: { email: 'a', x: 1 } }, { user: { email: 'a', x: 1 } }],
    [{ x: [{ email: 'a' }] }, { x: [{ email: 'a' }] }],
  ]
  for (const [sent, left] of cases) {
    const copy = structuredClone(sent)
    t.same(remove(sent, 'email'), left)
    t.same(sent, copy)
  }
  for (const sent of [
    { user: { email: 'a', x: 1 } },
    { 'user.email': 'a', user: { x: 1 } },
    { 'user%2Eemail': 'a', user: { x: 1 } },
    { user: [{ email: 'a', x: 1 }] },
    [{ user: [[{ email: 'a', x: 1 }]] }],
  ]) {
    t.notMatch(JSON.stringify(remove(sent, 'user.email')), 'email')
    t.match(JSON.stringify(editPath(sent, 'user.email', () => 'h')), '"h"')
  }
  const others = [
    {},
    { user: null },
    { user: 1 },
    { users: { email: 1 } },
    { user: { email: null } },
  ]
  for (const sent of others) t.equal(remove(sent, 'user.email'), sent, 'the same object')
})

t.test('a path covers dotted names below it, also as queries print them', async (t) => {
  const removed = (params: object, path: string) =>
    JSON.stringify(applyEdits(params, 'params', rulingOf({ action: 'remove', path, match: {} })))
  for (const params of [{ user: { email: 1 } }, { 'user.email': 1 }, { 'user%2Eemail': 1 }]) {
    t.equal(removed(params, 'params.user'), '{}')
    t.equal(removed({ a: [{ ...params }] }, 'params.a.user'), '{"a":[{}]}')
    t.notMatch(removed(params, 'params.user%2Eemail'), 'email')
    t.equal(removed(params, 'params.use'), JSON.stringify(params))
  }
})

t.test('at most a thousand values of a part are hashed, and the rest removed', async (t) => {
  const ruling = rulingOf(
    { action: 'hash', path: 'params.list', match: {} },
    { action: 'hash', path: 'params.more', match: {} },
  )
  const sent = { list: Array.from({ length: 999 }, (_, n) => n), more: { a: 1, b: 2, c: 'secret' } }
  const { list, more } = applyEdits(sent as Record<string, unknown>, 'params', ruling)
  t.equal(new Set(list as unknown[]).size, 999)
  t.same(Object.keys(JSON.parse(JSON.stringify(more)) as object), ['a'])
})

t.test('many edits at once do what they do one after the other', async (t) => {
  const name = fc.constantFrom('a', 'b', 'a.b', 'a%2Eb', 'c')
  const { value: object } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(1, 'x', null),
      fc.dictionary(name, tie('value')),
      fc.array(tie('value'), { maxLength: 2 }),
    ),
  }))
  const edit = fc.record({
    path: fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }),
    isHash: fc.boolean(),
  })
  fc.assert(
    fc.property(object, fc.array(edit, { maxLength: 6 }), (sent, edits) => {
      const changed: boolean[][] = [[], []]
      const editsOf = (list: boolean[]) =>
        edits.map(({ path, isHash }, at) => ({
          path: path.join('.'),
          change: (value: unknown) => (isHash ? `h${JSON.stringify(value)}` : undefined),
          onChange: () => void (list[at] = true),
        }))
      const together = editPaths(sent, editsOf(changed[0]!))
      const inTurn = editsOf(changed[1]!).reduce((value, one) => editPaths(value, [one]), sent)
      t.same([together, changed[0]], [inTurn, changed[1]])
    }),
  )
})

t.test('a rule takes no pattern of bundles', async (t) => {
  const rule = asRule({ action: 'drop', match: { bundle: 'com.example.*' } })
  t.match(findRuleProblem(rule), /takes no pattern/)
})

t.test('a member named __proto__ is an ordinary one', async (t) => {
  const sent = JSON.parse('{"__proto__":{"email":"a","x":1},"y":2}') as object
  t.equal(JSON.stringify(remove(sent, 'y')), '{"__proto__":{"email":"a","x":1}}')
  t.equal(JSON.stringify(remove(sent, '__proto__.email')), '{"__proto__":{"x":1},"y":2}')
})

t.test('a hash is the same for the same value, and that of the secret', async (t) => {
  const rule = { action: 'hash', path: 'params.phone', match: {} } as const
  const hashed = (params: Record<string, unknown>) =>
    applyEdits(params, 'params', rulingOf(rule))['phone']
  const expected = createHmac('sha256', secretBytes).update('49170').digest('hex').slice(0, 32)
  t.equal(hashed({ phone: '49170' }), expected)
  t.equal(hashed({ phone: 49_170 }), expected, 'a number is hashed like its text')
  t.equal(hashed({ phone: 49_170n }), expected, 'a large one, too')
  t.same(hashed({ phone: ['49170', null] }), [expected, null])
  t.equal(JSON.stringify(hashed({ phone: { home: '49170' } })), JSON.stringify({ home: expected }))
  t.equal(hashed({ phone: null }), null)
})

t.test('without its secret a hash removes the value', async (t) => {
  const rule = asRule({ action: 'hash', path: 'params.phone', match: {} })
  const rules = compileRules({ rules: [rule], secret: undefined })
  const ruling = rules.forSender('logs', 'key_1', sender())!.judge('a')!
  t.equal(JSON.stringify(applyEdits({ phone: '1', x: 2 }, 'params', ruling)), '{"x":2}')
})

t.test('any number of names of events is judged rightly', async (t) => {
  const rules = compile([{ action: 'drop', match: { eventPrefix: 'noise_1' } }])
  const of = rules.forSender('logs', 'key_1', sender())!
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 3_000; n++) {
      const isDropped = of.judge(`noise_${n}`) !== undefined
      if (isDropped !== String(n).startsWith('1')) t.fail(`noise_${n}`)
    }
  }
})

t.test('counts stay with their rule when others change', async (t) => {
  const [one, two] = [
    { action: 'drop', match: { os: 'a' } },
    { action: 'drop', match: { os: 'b' } },
  ].map((choice, index) => asRule(choice as RuleChoice, index)) as [never, never]
  const before = compileRules({ rules: [one], secret })
  before.active[0]!.matches = 7
  const after = compileRules({ rules: [two, one], secret, known: before.active })
  const found = after.active.map(({ matches }) => matches)
  t.same(found, [0, 7])
})

t.test('a rule that cannot be right is refused', async (t) => {
  const tooLong = `params.${'a'.repeat(255)}`
  const invalid: RuleChoice[] = [
    { action: 'drop', match: {} },
    { action: 'drop', match: { kind: 'logs' } },
    { action: 'drop', path: 'params.a', match: { os: 'a' } },
    { action: 'drop', rate: 0.1, match: { os: 'a' } },
    { action: 'sample', match: {} },
    { action: 'sample', rate: 0.1, match: {} },
    { action: 'sample', rate: 1e-9, match: { kind: 'logs' } },
    ...[0, 1, -1, 2, NaN].map((rate) => ({ action: 'sample', rate, match: { os: 'a' } }) as const),
    ...['', 'params', 'params.', 'email', 'params..a', 'extra', 'log.params.a', tooLong].map(
      (path) => ({ action: 'remove', path, match: {} }) as const,
    ),
    { action: 'hash', path: 'device.version_code', match: {} },
    { action: 'hash', path: 'device.first_install_time', match: {} },
    { action: 'remove', path: 'params.a', match: { kind: 'feedback' } },
    { action: 'drop', match: { kind: 'feedback', event: 'a' } },
    { action: 'drop', match: { event: 'a', eventPrefix: 'a' } },
    { action: 'drop', match: { event: '' } },
    { action: 'drop', match: { event: 'a'.repeat(256) } },
    { action: 'drop', match: { versionCodeBelow: 1.5 } },
    { action: 'drop', match: { versionCodeBelow: 5, versionCodeFrom: 5 } },
  ]
  for (const choice of invalid) t.type(findRuleProblem(choice), 'string', JSON.stringify(choice))
  t.equal(findRuleProblem({ action: 'hash', path: 'device.os', match: {} }), undefined)
  t.equal(findRuleProblem({ action: 'hash', path: 'device.serial', match: {} }), undefined)
})

t.test('a rule to hash a field that has become a number removes it instead', async (t) => {
  const rule = asRule({ action: 'hash', path: 'device.serial', match: {} })
  t.same(parseRule(JSON.stringify(rule)), rule, 'a field without a column is hashed')
  const typed = JSON.stringify({ ...rule, path: 'device.version_code' })
  t.same(parseRule(typed), { ...rule, action: 'remove', path: 'device.version_code' })
  t.equal(parseRule(JSON.stringify({ ...rule, path: 1 })), undefined)
})

t.test('an entry of Redis that is no rule of this version is not read', async (t) => {
  const rule = asRule({ action: 'drop', match: { os: 'a' } })
  t.same(parseRule(JSON.stringify(rule)), rule)
  const changes = [
    { action: 'delay' },
    { match: { os: 'a', country: 'DE' } },
    { match: null },
    { match: { os: 1 } },
    { id: 'rule_x' },
  ]
  for (const damaged of [
    '',
    'null',
    '[]',
    '{}',
    '{"id":1}',
    JSON.stringify(rule).slice(0, -1),
    ...changes.map((change) => JSON.stringify({ ...rule, ...change })),
  ]) {
    t.equal(parseRule(damaged), undefined, damaged)
  }
})

t.test('docs/rules.md names the option of every condition', async (t) => {
  const page = await readFile(new URL('../../../docs/rules.md', import.meta.url), 'utf8')
  for (const { option } of Object.values(conditions)) {
    t.ok(page.includes(`\`${option.split(' ')[0]} `), option)
  }
})
