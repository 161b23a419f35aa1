import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { until } from '@intake/test-kit/until'
import { loadConfig } from '../src/config.ts'
import { createLogger } from '../src/logger.ts'
import { watchSecrets } from '../src/watch-secrets.ts'

const schema = Type.Object({
  URL: Type.String({
    hasCredentials: true,
    isFollowed: true,
    pattern: '^redis://',
    findProblems: (url: string) => (new URL(url).password ? [] : ['URL must have a password']),
  }),
  PASSWORD: Type.String({ writeOnly: true }),
})

/**
 * Creates files like a mounted Kubernetes secret: links to a folder that is replaced by another
 * folder.
 */
function mountSecret(t: Test) {
  const dir = t.testdir()
  let version = 0
  return {
    env: { URL_FILE: join(dir, 'url'), PASSWORD_FILE: join(dir, 'password') },
    write(files: Record<string, string>) {
      const folder = `v${++version}`
      mkdirSync(join(dir, folder))
      for (const [name, content] of Object.entries(files)) {
        writeFileSync(join(dir, folder, name), content)
        rmSync(join(dir, name), { force: true })
        symlinkSync(join('..data', name), join(dir, name))
      }
      symlinkSync(folder, join(dir, '..next'))
      renameSync(join(dir, '..next'), join(dir, '..data'))
    },
  }
}

function start(t: Test, env: Record<string, string>) {
  const lines: string[] = []
  const destination = new PassThrough().on('data', (line) => lines.push(String(line)))
  const log = createLogger({ name: 'test', level: 'info', destination })
  const config = loadConfig(schema, env)
  const secrets = watchSecrets({ schema, env, config, log, intervalMs: 5 })
  t.teardown(() => secrets.close())
  return { secrets, lines }
}

t.test('a secret follows its file, however it is replaced', async (t) => {
  const mount = mountSecret(t)
  mount.write({ url: 'redis://a:one@host\n', password: 'p' })
  const { secrets, lines } = start(t, mount.env)
  const url = secrets.follow('URL')
  t.equal(url.current(), 'redis://a:one@host')
  let changes = 0
  url.onChange(() => changes++)

  mount.write({ url: 'redis://a:two@host\n', password: 'p' })
  await until('it has changed', () => url.current() === 'redis://a:two@host')
  writeFileSync(mount.env.URL_FILE, 'redis://b:three@host')
  await until('it has changed', () => url.current() === 'redis://b:three@host')
  t.equal(changes, 2)
  t.notMatch(lines.join(''), /one|two|three/, 'no secret is logged')
})

t.test('a value that is invalid, or another address, is reported and not used', async (t) => {
  const mount = mountSecret(t)
  mount.write({ url: 'redis://a:one@host', password: 'p' })
  const { secrets, lines } = start(t, mount.env)
  const url = secrets.follow('URL')
  url.onChange(() => t.fail('it has not changed'))
  for (const [value, report] of [
    ['', /it is empty/],
    ['http://a:two@host', /URL must match pattern/],
    ['redis://a:t/wo@host', /percent-encoded/],
    ['redis://a:50%off@host', /percent-encoded/],
    ['redis://a@host', /URL must have a password/],
    ['redis://a:two@other', /another address needs a restart/],
  ] as const) {
    lines.length = 0
    mount.write({ url: value, password: 'p' })
    await until('it is reported', () => report.test(lines.join('')))
    t.match(lines.join(''), '"help":"docs/operations/rotate-secrets.md"')
    t.equal(url.current(), 'redis://a:one@host')
  }
  lines.length = 0
  mount.write({ url: 'redis://a:one@host', password: 'another' })
  await until('it is reported', () => /"PASSWORD".*needs a restart/.test(lines.join('')))
})

t.test('a file that is gone is reported, and its last value remains', async (t) => {
  const mount = mountSecret(t)
  mount.write({ url: 'redis://a:one@host', password: 'p' })
  const { secrets, lines } = start(t, mount.env)
  const url = secrets.follow('URL')
  rmSync(mount.env.URL_FILE)
  await until('it is reported', () => /"URL".*cannot be read/.test(lines.join('')))
  t.equal(url.current(), 'redis://a:one@host')
  mount.write({ url: 'redis://a:two@host', password: 'p' })
  await until('it is followed again', () => url.current() === 'redis://a:two@host')
})

t.test('after the error of a listener the file is followed; no value is logged', async (t) => {
  const mount = mountSecret(t)
  mount.write({ url: 'redis://a:one@host', password: 'p' })
  const { secrets, lines } = start(t, mount.env)
  const url = secrets.follow('URL')
  const end = url.onChange(() => new URL('no url, hidden'))
  mount.write({ url: 'redis://a:two@host', password: 'p' })
  await until('it is reported', () => /"URL".*cannot be used: restart/.test(lines.join('')))
  t.notMatch(lines.join(''), /two|hidden/)
  end()
  mount.write({ url: 'redis://a:three@host', password: 'p' })
  await until('it has changed', () => /the new value is used/.test(lines.join('')))
})

t.test('a password with an @ that is not encoded is no other address', async (t) => {
  const mount = mountSecret(t)
  mount.write({ url: 'redis://a:o@ne@host', password: 'p' })
  const url = start(t, mount.env).secrets.follow('URL')
  mount.write({ url: 'redis://a:t@w@o@host', password: 'p' })
  await until('it has changed', () => url.current() !== 'redis://a:o@ne@host')
  t.equal(url.current(), 'redis://a:t@w@o@host')
})

t.test('a setting without a file never changes', async (t) => {
  const { secrets } = start(t, { URL: 'redis://a:one@host', PASSWORD: 'p' })
  t.equal(secrets.follow('URL').current(), 'redis://a:one@host')
})

t.test('a setting whose schema does not say so cannot be followed', async (t) => {
  const { secrets } = start(t, { URL: 'redis://a:one@host', PASSWORD: 'p' })
  t.throws(() => secrets.follow('PASSWORD'), { message: 'PASSWORD is not marked as followed' })
})
