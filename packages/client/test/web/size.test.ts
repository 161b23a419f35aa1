import { gzipSync } from 'node:zlib'
import t from 'tap'
import { bundleEntry } from '../../adapters/bundle.ts'

t.test('the web bundle has at most 8 KiB, minified and compressed', async (t) => {
  const bundle = await bundleEntry('web', { minify: true })
  const bytes = gzipSync(bundle, { level: 9 }).length
  t.comment(`${bundle.length} bytes, ${bytes} compressed`)
  t.ok(bytes <= 8192, `${bytes} bytes`)
})
