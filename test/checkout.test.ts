import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { needsClone } from '@intake/test-kit/needs-clone'
import t from 'tap'

const root = fileURLToPath(new URL('..', import.meta.url))

t.test('scripts keep their line ends with core.autocrlf', needsClone, async (t) => {
  const scripts = ['intake', 'deploy/intake', 'deploy/secrets.sh', 'deploy/redis/users.acl']
  const args = ['check-attr', 'eol', '--', ...scripts]
  const said = execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  t.same(
    said.trim().split('\n'),
    scripts.map((name) => `${name}: eol: lf`),
  )
})

t.test('a compiler that was killed is named', async (t) => {
  const code = `const { run } = await import('./tools/scripts/bootstrap.mjs')
    await run('sh', ['-c', 'kill -9 $$'])`
  const options = { cwd: root, encoding: 'utf8' } as const
  const { status, stderr } = spawnSync(process.execPath, ['--eval', code], options)
  t.equal(status, 1)
  t.match(stderr, /was killed, perhaps for lack of memory\.$/m)
})
