import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { toolsFor } from '../src/connect/tools.ts'
import { createIntake, endpointsOfStack } from './in-process.ts'

const access = {
  host: '127.0.0.1',
  port: 18123,
  user: 'analyst',
  password: 'PASSWORD',
  isSecure: false,
}

t.test('docs/connect.md has the lines of every tool', async (t) => {
  const page = readFileSync(new URL('../../../docs/connect.md', import.meta.url), 'utf8')
  for (const [name, text] of Object.entries(toolsFor(access))) {
    const [, ...lines] = text.split('\n')
    t.match(page, lines.join('\n'), name)
  }
})

t.test('a server by its URL, with the password only on demand', async (t) => {
  const intake = createIntake({ cwd: t.testdir({}), env: {} })
  const url = ['--url', 'https://ana:s%2Fcret@db.example.com:8443']
  const hidden = await intake(['connect', 'mcp', ...url])
  t.match(hidden, { code: 0, stderr: /--show-password/ })
  t.match(hidden.stdout, 'CLICKHOUSE_HOST=db.example.com\nCLICKHOUSE_PORT=8443\n')
  t.match(hidden.stdout, 'CLICKHOUSE_SECURE=true')
  const all = await intake(['connect', ...url])
  t.notMatch(all.stdout, /s\/cret|s%2Fcret/)
  const shown = await intake(['connect', 'mcp', ...url, '--show-password'])
  t.match(shown.stdout, 'CLICKHOUSE_USER=ana\nCLICKHOUSE_PASSWORD=s/cret\n')
})

t.test('a password stays whole in the text of every tool', (t) => {
  const password = `a'b"c\\d e@f/g:h`
  const textOf = (tool: string) => {
    const [, ...lines] = toolsFor({ ...access, password })[tool]!.split('\n')
    return lines.join('\n')
  }
  t.match(textOf('python'), `password='a\\'b"c\\\\d e@f/g:h',`)
  t.match(textOf('npm'), `password: 'a\\'b"c\\\\d e@f/g:h',`)
  t.match(textOf('chdb'), `'X-ClickHouse-Key' = 'a\\'b"c\\\\d e@f/g:h')`)
  t.match(textOf('go'), `Password: ${JSON.stringify(password)}}`)
  t.match(textOf('dbt'), `password: 'a''b"c\\d e@f/g:h'\n`)
  t.equal(decodeURIComponent(new URL(textOf('superset')).password), password)
  for (const tool of ['curl', 'duckdb']) {
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${textOf(tool)}`], { encoding: 'utf8' })
    t.equal(words.split('\n')[3], `analyst:${password}`, tool)
  }
  t.end()
})

t.test('the analyst of the running stack', async (t) => {
  const cwd = t.testdir({ '.intake': { 'endpoints.json': JSON.stringify(endpointsOfStack) } })
  const intake = createIntake({ cwd, env: {} })
  const { stdout } = await intake(['connect', 'curl'])
  t.equal(stdout, `# ${toolsFor(access)['curl']}\n\n`)
  t.match(stdout, '# curl\ncurl -sS -u analyst:PASSWORD')
})

t.test('an unknown tool, a URL without a user, and no stack', async (t) => {
  const intake = createIntake({ cwd: t.testdir({}), env: {} })
  for (const [args, reason] of [
    [['excel', '--url', 'http://ana@db:8123'], /There is no tool excel: python, /],
    [['curl', '--url', 'http://db:8123'], /--url must be like/],
    [['curl'], /give --url/],
  ] as const) {
    t.match(await intake(['connect', ...args]), { code: 1, stderr: reason })
  }
})
