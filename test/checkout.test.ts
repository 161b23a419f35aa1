import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('..', import.meta.url))

t.test('scripts keep their line ends with core.autocrlf', async (t) => {
  const scripts = ['intake', 'deploy/intake', 'deploy/secrets.sh', 'deploy/redis/users.acl']
  const args = ['check-attr', 'eol', '--', ...scripts]
  const said = execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  t.same(
    said.trim().split('\n'),
    scripts.map((name) => `${name}: eol: lf`),
  )
})
