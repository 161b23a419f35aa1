import { gzipSync } from 'node:zlib'
import t from 'tap'
import { bundleEntry } from '../../adapters/bundle.ts'
import { bundleWeb } from '../../bundle.mjs'

t.test('the web bundle has at most 8,350 bytes, minified and compressed', async (t) => {
  const bytes = gzipSync(await bundleWeb(), { level: 9 }).length
  t.ok(bytes <= 8350, `${bytes} bytes`)
})

t.test('a bundler that keeps the names of properties makes at most 10 KiB of it', async (t) => {
  const bytes = gzipSync(await bundleEntry('web', { minify: true }), { level: 9 }).length
  t.ok(bytes <= 10_240, `${bytes} bytes`)
})
