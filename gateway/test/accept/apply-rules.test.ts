import t from 'tap'
import { applyEdits, compileRules, type RuleChoice } from '@intake/access'
import { createExtraEditor } from '../../src/accept/apply-rules.ts'
import { joinExtra } from '../../src/record/extra.ts'

const secret = Buffer.from('a secret').toString('base64')
const sender = { bundle_identifier: 'a', device: {}, device_uuid: 'd', unique_user_id: 'u' }

function judge(choices: RuleChoice[]) {
  const rules = choices.map((choice, n) => ({
    ...choice,
    id: `rule_${n}`,
    createdAt: '',
    createdBy: '',
  }))
  return compileRules({ rules, secret }).forSender('logs', 'key_1', sender)!.judge('tap')!
}

t.test('the shared fields of a batch are edited once, as if each entry had its own', async (t) => {
  let reads = 0
  const shared = {
    get list() {
      reads++
      return ['49170']
    },
    log: { secret: 'a' },
    user: { email: 'a' },
  }
  const choices: RuleChoice[] = [
    { action: 'hash', path: 'extra.list', match: {} },
    { action: 'remove', path: 'extra.user', match: {} },
    { action: 'remove', path: 'extra.log.secret', match: {} },
  ]
  const edit = createExtraEditor(shared, 'log')
  for (const inEntry of [{ secret: 'b', x: 1 }, { x: 2 }, undefined]) {
    const [ruling, expected] = [judge(choices), judge(choices)]
    const joined = applyEdits(joinExtra(shared, 'log', inEntry)!, 'extra', expected)
    reads = 0
    t.equal(edit(inEntry, ruling), JSON.stringify(joined))
    t.same(
      new Set(ruling.acted.map(({ rule }) => rule.id)),
      new Set(expected.acted.map(({ rule }) => rule.id)),
    )
    t.equal(reads > 0, inEntry?.x === 1, 'the shared fields are read for the first entry only')
  }
  t.equal(createExtraEditor(undefined, 'log')(undefined, judge(choices)), undefined)
  t.equal(createExtraEditor({ user: 1 }, 'log')(undefined, judge(choices)), undefined)
})
