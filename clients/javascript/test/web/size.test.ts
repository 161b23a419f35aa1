import { gzipSync } from 'node:zlib'
import t from 'tap'
import { bundleEntry } from '../../adapters/bundle.ts'
import { bundleWeb, internal } from '../../bundle.mjs'

t.test('the web bundle has at most 8,192 bytes, minified and compressed', async (t) => {
  const bytes = gzipSync(await bundleWeb(), { level: 9 }).length
  t.ok(bytes <= 8192, `${bytes} bytes`)
})

t.test('a bundler that keeps the names of properties makes at most 10 KiB of it', async (t) => {
  const bytes = gzipSync(await bundleEntry('web', { minify: true }), { level: 9 }).length
  t.ok(bytes <= 10_240, `${bytes} bytes`)
})

t.test('no name that the bundle shortens is one of a built-in object', async (t) => {
  const types = [Array, String, Number, Set, Map, Promise, Date, RegExp, Error, Uint8Array, Blob]
  const ofPages = [FormData, Headers, Response, AbortController, URL, TextDecoder]
  const ofStreams = [ReadableStream, ReadableStreamDefaultReader]
  const objects = [...types, ...ofPages, ...ofStreams].flatMap((one) => [
    one,
    one.prototype as object,
  ])
  const builtIn = new Set(
    [...objects, JSON, Math, Object, crypto].flatMap((one) => Object.getOwnPropertyNames(one)),
  )
  const others = internal.split(' ').filter((name) => builtIn.has(name))
  t.same(others, [])
})
