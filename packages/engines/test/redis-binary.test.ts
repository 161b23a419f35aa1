import { chmodSync } from 'node:fs'
import t from 'tap'

import { findRedis } from '../src/redis-binary.ts'

t.test('an installed Valkey or Redis is used if it runs', async (t) => {
  const runs = '#!/bin/sh\necho v=8.0\n'
  const dir = t.testdir({
    broken: { 'valkey-server': '#!/bin/sh\nexit 127\n' },
    good: { 'redis-server': runs },
  })
  for (const file of ['broken/valkey-server', 'good/redis-server'])
    chmodSync(`${dir}/${file}`, 0o755)
  const env = { PATH: `${dir}/broken:${dir}/good` }
  const found = await findRedis({ env, cacheDir: `${dir}/none` })
  t.strictSame(found, { path: `${dir}/good/redis-server`, env: {} })
})

t.test('without one and without apt-get, the error says in one sentence what to do', async (t) => {
  const dir = t.testdir()
  await t.rejects(findRedis({ env: { PATH: dir }, cacheDir: `${dir}/none` }), {
    name: 'StartError',
    message:
      /^Redis is missing and this system has no apt-get .+\. Install it \(for example: .+\), or set REDIS_URL/,
  })
})
