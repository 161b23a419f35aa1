import t from 'tap'
import { reachThisMachine } from '../tools/scripts/bootstrap.mjs'
import { welcome } from '../tools/local/src/stack/welcome.ts'

t.test('npm start reaches its own services, if Node sends requests to a proxy', async (t) => {
  for (const [env, hosts] of [
    [{}, '127.0.0.1'],
    [{ NO_PROXY: '.example.com' }, '.example.com,127.0.0.1'],
    [{ NO_PROXY: 'ignored', no_proxy: 'corp' }, 'corp,127.0.0.1'],
  ] as const) {
    const changed: NodeJS.ProcessEnv = { ...env }
    reachThisMachine(changed)
    t.same(changed, { NO_PROXY: hosts, no_proxy: hosts })
  }
})

t.test('the printed commands reach this machine, if curl has a proxy', async (t) => {
  const url = 'http://user:secret@127.0.0.1:1'
  const endpoints = { gateway: url, page: url, analyst: url, s3: url, apiKey: 'key' } as never
  const stack = { endpoints, playUrl: undefined }
  const linesOf = (env: NodeJS.ProcessEnv) => welcome(stack, env).match(/^curl .*$/gm) ?? []
  for (const env of [{ http_proxy: 'http://proxy' }, { ALL_PROXY: 'http://proxy' }]) {
    const lines = linesOf(env)
    t.equal(lines.length, 4)
    t.ok(lines.every((line) => line.startsWith("curl --noproxy '*' -sS ")))
  }
  t.notMatch(linesOf({ HTTP_PROXY: 'curl does not read it' }).join(), /noproxy/)
})
