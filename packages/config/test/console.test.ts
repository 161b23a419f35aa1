import t from 'tap'
import { problemsOf } from '@intake/runtime'
import { loadConfig } from '@intake/runtime/config'
import { ConsoleConfig } from '../src/console.ts'
import { webhookReceivers } from '../src/webhook-receivers.ts'

const load = (env: Record<string, string>) =>
  loadConfig(ConsoleConfig, { REDIS_URL: 'redis://x', CLICKHOUSE_URL: 'http://x', ...env })

const refusalOf = (env: Record<string, string>) => problemsOf(() => load(env)).join('; ')

t.test('TRUST_PROXY takes what the gateway takes', async (t) => {
  for (const value of ['0', '1', '10.0.0.0/8, fd00::1']) {
    t.equal(load({ TRUST_PROXY: value }).TRUST_PROXY, value)
  }
  t.throws(() => load({ TRUST_PROXY: 'yes' }), {
    message: /TRUST_PROXY must be a number of proxies, or a list of their addresses/,
  })
})

t.test('all problems are reported at once', async (t) => {
  const wrong = { PAGE_PASSWORD: 'short', FEEDBACK_WEBHOOK_URL: 'https://hook.example' }
  t.match(refusalOf(wrong), /PAGE_PASSWORD must .*FEEDBACK_WEBHOOK_SECRET must be set/)
})

t.test('a webhook secret that would sign with another key than meant is refused', async (t) => {
  const url = { FEEDBACK_WEBHOOK_URL: 'https://hook.example/x' }
  const bytes = (count: number) => Buffer.alloc(count, 7).toString('base64')
  for (const secret of [
    `whsec_${'*'.repeat(16)}`,
    'whsec_',
    `whsec_${bytes(23)}`,
    `whsec_${bytes(65)}`,
    `whsec_${bytes(32)} `,
    `whsec_${bytes(32)}!`,
    `whsec_****${bytes(32)}`,
    `whsec_${bytes(32).replaceAll('B', '-')}`,
    ' '.repeat(20),
    'short',
  ]) {
    t.match(
      refusalOf({ ...url, FEEDBACK_WEBHOOK_SECRET: secret }),
      /FEEDBACK_WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes/,
      secret,
    )
  }
  for (const secret of [24, 32, 64].map((count) => `whsec_${bytes(count)}`)) {
    t.equal(refusalOf({ ...url, FEEDBACK_WEBHOOK_SECRET: secret }), '', secret)
    t.equal(refusalOf({ ...url, FEEDBACK_WEBHOOK_SECRET: secret.replace(/=+$/, '') }), '')
  }
  t.equal(refusalOf({ ...url, FEEDBACK_WEBHOOK_SECRET: 'a text of 16 characters' }), '')
})

t.test('what is no webhook URL is refused', async (t) => {
  for (const url of [
    'https://',
    'https://hook.example:99999/token',
    'https://a b/token',
    'https://[::1/token',
    'https://user:token@hook.example/',
    'https://hook.example%00/token',
    'https://@/token',
  ]) {
    const refusal = refusalOf({
      FEEDBACK_WEBHOOK_URL: url,
      FEEDBACK_WEBHOOK_SECRET: 'a text of 16 characters',
    })
    t.match(refusal, 'FEEDBACK_WEBHOOK_URL must be a URL', url)
    t.notMatch(refusal, 'token', url)
  }
})

t.test('issues for GitHub need a token, and links a URL', async (t) => {
  t.equal(load({}).FEEDBACK_WEBHOOK_FORM, 'standard')
  t.throws(() => load({ FEEDBACK_WEBHOOK_FORM: 'irc' }), /FEEDBACK_WEBHOOK_FORM/)
  t.match(refusalOf({ FEEDBACK_WEBHOOK_FORM: 'github' }), 'needs FEEDBACK_WEBHOOK_TOKEN')
  const github = { FEEDBACK_WEBHOOK_FORM: 'github', FEEDBACK_WEBHOOK_TOKEN: 'ghp_x' }
  t.match(refusalOf(github), 'github needs FEEDBACK_WEBHOOK_URL')
  const url = { FEEDBACK_WEBHOOK_URL: 'https://api.github.com/repos/a/b/issues' }
  const secret = { FEEDBACK_WEBHOOK_SECRET: 'a secret of the webhook, long enough' }
  t.equal(refusalOf({ ...github, ...url, ...secret }), '')
  t.match(refusalOf({ ...github, ...url, ...secret, FEEDBACK_WEBHOOK_TOKEN: 'a\nb' }), 'TOKEN')
  t.match(refusalOf({ PAGE_URL: 'https://user:token@page.example/' }), 'PAGE_URL must be a URL')
})

t.test('every fault in the list of receivers is named, without its values', async (t) => {
  const good = {
    bundle: 'com.example.*',
    url: 'https://hook.example/token',
    secret: 'a text of 16 characters',
  }
  const refusalOfList = (list: unknown) =>
    refusalOf({ FEEDBACK_WEBHOOKS: typeof list === 'string' ? list : JSON.stringify(list) })
  t.equal(refusalOfList([good, { ...good, bundle: 'com.other', email: 'show' }]), '')
  t.equal(refusalOfList([{ ...good, form: 'github', token: 'ghp_x' }]), '')
  for (const [list, problem] of [
    ['[', /must be a JSON list/],
    [{}, /must be a JSON list/],
    [[], /must be a JSON list/],
    [[{ ...good, url: undefined }], /entry 1 must have .*url/],
    [
      [good, { ...good, bundle: '*' }],
      /entry 2: bundle must be an application, or com.example.\* .* FEEDBACK_WEBHOOK_URL gets the rest/,
    ],
    [[{ ...good, bundel: 'x' }], /entry 1: bundel is unknown/],
    [[{ ...good, form: 'irc' }], /entry 1: form must be standard, slack, teams or github/],
    [[{ ...good, url: 'https://user:token@hook.example' }], /entry 1: url must be a URL/],
    [[{ ...good, secret: 'token' }], /entry 1: secret must be whsec_/],
    [[{ ...good, form: 'github' }], /entry 1 form github needs token/],
    [
      [
        { ...good, url: 'token' },
        { ...good, secret: 'token' },
      ],
      /entry 1: url .*entry 2: secret/,
    ],
  ] as const) {
    const refusal = refusalOfList(list)
    t.match(refusal, problem)
    t.notMatch(refusal.replace(/needs token$/, ''), 'token', refusal)
  }
})

t.test('the receiver of FEEDBACK_WEBHOOK_URL is the last row, for all applications', async (t) => {
  const row = { bundle: 'com.example', url: 'https://a.example', secret: 'a text of 16 characters' }
  const config = load({
    FEEDBACK_WEBHOOKS: JSON.stringify([row]),
    FEEDBACK_WEBHOOK_URL: 'https://b.example',
    FEEDBACK_WEBHOOK_SECRET: 'another of 16 characters',
    FEEDBACK_WEBHOOK_EMAIL: 'hide',
    FEEDBACK_WEBHOOK_TOKEN: 'ghp_x',
  })
  t.same(webhookReceivers(config), [
    row,
    {
      url: 'https://b.example',
      secret: 'another of 16 characters',
      form: 'standard',
      token: 'ghp_x',
      email: 'hide',
    },
  ])
  t.same(webhookReceivers(load({})), [])
})

t.test('a password of fewer than 12 characters is refused', async (t) => {
  for (const password of ['a', 'elevenchars', `${' '.repeat(12)}a`]) {
    const refusal = refusalOf({ PAGE_PASSWORD: password })
    t.match(refusal, 'PAGE_PASSWORD must have at least 12 characters')
  }
  t.equal(refusalOf({ PAGE_PASSWORD: 'twelve chars' }), '')
})

t.test('a password with a control character is refused, because no browser sends it', async (t) => {
  for (const character of ['\t', '\n', '\0', '\u007F', '\u0085']) {
    const refusal = refusalOf({ PAGE_PASSWORD: `twelve${character}characters` })
    t.match(refusal, /PAGE_PASSWORD must have no control characters$/)
  }
})
