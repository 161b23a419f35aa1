import { execFile } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSandbox } from '@intake/sandbox'
import t from 'tap'
import { checklist } from '../../src/page/views/checklist.ts'
import type { Header } from '../../src/page/worker-state.ts'
import { allIn } from './fixture.ts'

const run = promisify(execFile)

/** The checklist of a new installation with these keys. */
const checklistOf = (options: { keys: string[]; urls: string[] }) =>
  String(
    checklist({
      header: { nowMs: Date.now() } as Header,
      data: {
        firstAtMs: { logs: null, feedback: null },
        names: new Map(options.keys.map((name) => [name, name])),
      },
      isNew: true,
      urls: options.urls,
    }),
  )

const stub = (key: string) => `#!/bin/sh
case "$*" in
  *'keys create --name my-app --bundle com.example.shop') echo ${key} ;;
  *) exit 1 ;;
esac
`

t.test('the commands of the checklist are accepted as they stand', async (t) => {
  const sandbox = await createSandbox()
  t.teardown(() => sandbox.close())
  const page = checklistOf({ keys: [], urls: [sandbox.url] })
  // Stands for the command line of a clone, and for Docker with the service `migrate`.
  const folder = t.testdir({
    intake: stub(sandbox.apiKey),
    docker: stub(sandbox.apiKey),
    sleep: '#!/bin/sh',
  })
  for (const name of ['intake', 'docker', 'sleep']) await chmod(join(folder, name), 0o755)
  const [own = '', compose = '', ...senders] = allIn(page, /<pre>\n?([^]*?)<\/pre>/g).map((text) =>
    text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))),
  )
  for (const create of [own, compose])
    for (const send of senders) {
      const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` }
      const { stdout } = await run('sh', ['-ec', `${create}\n${send}`], { cwd: folder, env })
      t.match(stdout, /^ik_.*\n.*successfully created/, `${create}\n${send}`)
    }
  t.match(sandbox.records(), [
    { kind: 'log', event: 'hello', params: { from: 'curl' } },
    { kind: 'feedback', text: 'Hello!', email: 'me@example.com' },
    { kind: 'log' },
    { kind: 'feedback' },
  ])
})

t.test('a key of npm start or of the demo is not one of the reader’s own', async (t) => {
  t.notMatch(checklistOf({ keys: ['npm start', 'intake demo'], urls: [] }), 'done: ')
  const own = checklistOf({ keys: ['npm start', 'my-app'], urls: [] })
  t.match(own, 'done: </span>Create a key')
})
