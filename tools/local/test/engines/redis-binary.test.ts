import { chmodSync } from 'node:fs'
import t from 'tap'

import { findRedis } from '../../src/engines/redis-binary.ts'

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

t.test('a program that does not end holds up neither the start nor its end', async (t) => {
  const dir = t.testdir({ 'valkey-server': '#!/bin/sh\nexec sleep 60\n' })
  chmodSync(`${dir}/valkey-server`, 0o755)
  const env = { PATH: `${dir}:/bin:/usr/bin` }
  const signal = AbortSignal.timeout(200)
  await t.rejects(findRedis({ env, cacheDir: `${dir}/none`, signal }), { name: 'TimeoutError' })
})

t.test('without one and without apt-get, the error says in one sentence what to do', async (t) => {
  const dir = t.testdir()
  await t.rejects(findRedis({ env: { PATH: dir }, cacheDir: `${dir}/none` }), {
    name: 'StartError',
    message:
      /^Redis is missing and this system has no apt-get .+\. Install it \(for example: .+\), or set REDIS_URL/,
  })
})

t.test('where only the package with its tools is installed, the program is unpacked', async (t) => {
  const system = 'export PATH=/usr/bin:/bin\n'
  const dir = t.testdir({
    // These programs behave as on Debian, where the package redis-server contains a link to a
    // program in the package redis-tools.
    'apt-get': `#!/bin/sh\n${system}
case $1 in
  -s) echo 'Inst redis-server (5:7.0.15 Debian:12/stable [amd64])' ;;
  download) shift; for name; do touch "$name.deb"; done ;;
  *) exit 1 ;;
esac\n`,
    'dpkg-deb': `#!/bin/sh\n${system}
mkdir -p "$3/usr/bin"
case $2 in
  redis-server.deb) ln -s redis-check-rdb "$3/usr/bin/redis-server" ;;
  redis-tools.deb)
    printf '#!/bin/sh\\necho v=7.0\\n' > "$3/usr/bin/redis-check-rdb"
    chmod +x "$3/usr/bin/redis-check-rdb" ;;
esac\n`,
  })
  for (const name of ['apt-get', 'dpkg-deb']) chmodSync(`${dir}/${name}`, 0o755)
  const cacheDir = `${dir}/cache/redis`
  const { path } = await findRedis({ env: { PATH: dir }, cacheDir })
  t.equal(path, `${cacheDir}/usr/bin/redis-server`)
})
