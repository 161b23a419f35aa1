import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { obstacles } from '@intake/confinement/landlock.mjs'
import { createDataDir } from '@intake/test-kit/data-dir'
import { ownRedis } from '@intake/test-kit/own-services'
import { heic } from '../../../packages/pictures/test/corpus/heic.ts'
import {
  createDecoder,
  DecoderEndedError,
  DecoderMissingError,
  type Decoder,
} from '../../src/thumbnails/decoder-process.ts'

const photo = readFileSync(new URL('../../../test/images/photo.jpg', import.meta.url))

/** Lets a decoder examine a picture. */
const examine = (decoder: Decoder, bytes = photo, contentType = 'image/jpeg') =>
  decoder.examine(bytes, {
    contentType,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })

function openDecoder(t: Test, options: Parameters<typeof createDecoder>[0] = {}) {
  // On a busy machine a picture may take long.
  const decoder = createDecoder({ timeoutMs: 120_000, ...options })
  t.teardown(() => decoder.end())
  return decoder
}

/** Writes a program that replaces the decoder, and returns its path. */
function program(t: Test, text: string): string {
  const path = join(t.testdir(), 'decoder.mjs')
  writeFileSync(path, text)
  return path
}

const shared = openDecoder(t)
const obstacle = obstacles().files ?? obstacles().systemCalls

t.test('a picture gets a thumbnail, and the next one, too', async (t) => {
  const decoder = openDecoder(t)
  t.equal(decoder.confinement(), undefined, 'nobody knows before the first picture')
  for (const _ of [1, 2])
    t.equal((await examine(decoder)).thumbnail?.toString('latin1', 8, 12), 'WEBP')
  t.equal(decoder.confinement(), obstacle === undefined ? 'confined' : `not confined: ${obstacle}`)
})

/** A statement that sends a line as the decoder does, and a body. */
const sends = (line: object, body = '') =>
  `process.stdout.write(${JSON.stringify(`${JSON.stringify(line)}\n${body}`)});`
const ready = sends({})

t.test('a process that takes too long is killed', async (t) => {
  const script = program(t, `${ready} setInterval(() => {}, 1_000)`)
  const cause = { message: /took longer than 3000 ms/ }
  await t.rejects(examine(openDecoder(t, { script, timeoutMs: 3_000 })), { cause })
})

for (const [what, text, error] of [
  [
    'cannot load sharp says so',
    sends({ missing: 'Could not load the "sharp" module' }),
    DecoderMissingError,
  ],
  [
    'cannot be started is not the fault of the picture',
    'throw new Error()',
    { name: 'Error', message: 'the process has ended: exit code 1' },
  ],
  ['is killed fails', `${ready} process.kill(process.pid, 'SIGKILL')`, DecoderEndedError],
  [
    'takes more than 400 MB fails',
    `${ready} process.stdin.once('data', () => Buffer.alloc(500_000_000, 1).length)
    setInterval(() => {}, 1_000)`,
    DecoderEndedError,
  ],
] as const) {
  t.test(`a process that ${what}`, async (t) => {
    await t.rejects(examine(openDecoder(t, { script: program(t, text) })), error)
  })
}

t.test('a process has no setting; its error says how it ended, and what it wrote', async (t) => {
  process.env['SECRET_OF_THE_WORKER'] = 'secret'
  t.teardown(() => delete process.env['SECRET_OF_THE_WORKER'])
  const script = program(
    t,
    `import { writeSync } from 'node:fs'
    ${ready} writeSync(2, 'x'.repeat(100_000) + Object.keys(process.env))
    process.exit(3)`,
  )
  const error: unknown = await examine(openDecoder(t, { script })).catch((reason) => reason)
  const { cause } = error as { cause: Error & { cause: Error } }
  t.equal(cause.message, 'the process has ended: exit code 3')
  t.match(cause.cause.message, /^x+[^x]*UV_THREADPOOL_SIZE/)
  t.notMatch(cause.cause.message, 'SECRET')
  t.equal(cause.cause.message.length, 2_000)
})

t.test('nothing but what a decoder sends is believed', async (t) => {
  for (const [head, body] of [
    [{ width: 1, height: 1, error: 'hello' }, ''],
    [{ width: -1, height: 1 }, 'RIFF....WEBP'],
    [{ width: '<b>', height: 1 }, 'RIFF....WEBP'],
    [{ width: 1, height: 1 }, '<html>'],
    [{ width: 1, height: 1, error: 'pixels' }, 'RIFF....WEBP'],
  ] as const) {
    const answer = `process.stdin.once('data', () => { ${sends(head, body)} })`
    const script = program(t, `${ready} ${answer}`)
    await t.rejects(examine(openDecoder(t, { script })), DecoderEndedError)
  }
})

const skip = obstacle ?? false

t.test('code that a picture brings in reads, writes and reaches nothing', { skip }, async (t) => {
  process.env['SECRET_OF_THE_WORKER'] = 'a secret'
  t.teardown(() => delete process.env['SECRET_OF_THE_WORKER'])
  const redis = await ownRedis(t)
  const folder = createDataDir(t)
  const secrets = join(folder, 'secrets.json')
  writeFileSync(secrets, 'a secret')
  const socket = createServer().listen(join(folder, 'socket'))
  t.teardown(() => socket.close())
  await once(socket, 'listening')
  // Stands for code that runs in a library of the decoder. Each attempt is allowed to a process of
  // this user that is not confined.
  const script = program(
    t,
    `import { readFileSync, readdirSync, writeFileSync, writeSync } from 'node:fs'
      import { connect } from 'node:net'
      import { createSocket } from 'node:dgram'
      import { execFileSync } from 'node:child_process'
      import { once } from 'node:events'
      ${ready}
      const attempts = {
        environment: () => readFileSync('/proc/${process.pid}/environ'),
        ownEnvironment: () => readFileSync('/proc/self/environ'),
        secrets: () => readFileSync(${JSON.stringify(secrets)}),
        folder: () => readdirSync(${JSON.stringify(folder)}),
        passwords: () => readFileSync('/etc/passwd'),
        write: () => writeFileSync(${JSON.stringify(join(folder, 'new'))}, ''),
        writeCode: () => writeFileSync(import.meta.filename ?? new URL(import.meta.url).pathname, ''),
        run: () => execFileSync('/bin/sh', ['-c', 'true']),
        signal: () => process.kill(${process.pid}, 0),
        redis: () => once(connect(${new URL(redis.url).port}, '127.0.0.1'), 'connect'),
        unix: () => once(connect(${JSON.stringify(join(folder, 'socket'))}), 'connect'),
        udp: () => once(createSocket('udp4').bind(0), 'listening'),
      }
      process.stdin.once('data', async () => {
        const succeeded = []
        for (const [name, attempt] of Object.entries(attempts))
          await Promise.resolve().then(attempt).then(() => succeeded.push(name), () => {})
        writeSync(2, JSON.stringify({ succeeded, environment: Object.keys(process.env) }))
        process.exit(3)
      })`,
  )
  const error: unknown = await examine(openDecoder(t, { script })).catch((reason) => reason)
  const { message } = (error as { cause: { cause: Error } }).cause.cause
  const [found = ''] = /\{.*\}/.exec(message) ?? [] // after a warning of Node
  const { succeeded, environment } = JSON.parse(found) as Record<string, string[]>
  // Landlock keeps signals in from Linux 6.12 on.
  const others = succeeded?.filter((name) => name !== 'signal')
  t.same(others, [])
  t.notOk(environment?.includes('SECRET_OF_THE_WORKER'))
  t.equal(readFileSync(secrets, 'utf8'), 'a secret', 'this process can read it')
})

t.test('a picture that takes more than 400 MB ends the process', async (t) => {
  const create = { width: 16, height: 16, channels: 3 as const, background: 'gray' }
  const bytes = await sharp({ create })
    .toColourspace('cmyk')
    .jpeg({ progressive: true, chromaSubsampling: '4:4:4' })
    .toBuffer()
  // The decoder keeps all coefficients of a progressive JPEG in memory. For a picture of 7,000 by
  // 7,000 pixels, with the four channels of CMYK, they take 392 MB. With the memory that the process
  // uses after its start, this exceeds the limit.
  const frame = bytes.indexOf(Buffer.from('ffc2', 'hex'))
  bytes.writeUInt16BE(7_000, frame + 5)
  bytes.writeUInt16BE(7_000, frame + 7)
  await t.rejects(examine(shared, bytes), DecoderEndedError)
})

t.test('bombs get an error, and take no memory of the console', async (t) => {
  const before = process.memoryUsage.rss()
  // A small file whose header announces a square of many pixels.
  const side = 16_000
  const data = Buffer.alloc(18)
  data[0] = 0x2f
  data.writeUInt32LE((side - 1) | ((side - 1) << 14), 1)
  const bomb = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8L\0\0\0\0', 'latin1'), data])
  bomb.writeUInt32LE(12 + data.length, 4)
  bomb.writeUInt32LE(data.length, 16)
  const refused = { width: side, height: side, error: 'pixels' }
  t.match(await examine(shared, bomb, 'image/webp'), refused)
  t.match(await examine(shared, heic.subarray(0, 28), 'image/heic'), { error: 'unreadable' })
  const grown = (process.memoryUsage.rss() - before) / 1024 ** 2
  t.ok(grown < 50, `${grown} MiB`)
})

t.test('a file that is a picture and something else gets a thumbnail of the picture', async (t) => {
  const script = Buffer.from('<script>alert(1)</script>PK\x03\x04')
  const { thumbnail } = await examine(shared, Buffer.concat([photo, script]))
  t.ok(thumbnail)
  t.notOk(thumbnail?.includes('script'))
})

t.test('the worker itself never loads sharp', async (t) => {
  const compose = new URL('../../dist/compose.js', import.meta.url).href
  const print = `await import(${JSON.stringify(compose)});
    console.log((await import('node:fs')).readFileSync('/proc/self/maps', 'utf8').includes('vips'))`
  const options = ['--input-type=module', '--eval', print]
  const { stdout } = await promisify(execFile)(process.execPath, options)
  t.equal(stdout.trim(), 'false')
})

t.test('a worker without free file descriptors goes on', async (t) => {
  const { href } = new URL('../../dist/thumbnails/decoder-process.js', import.meta.url)
  const path = program(
    t,
    `import { openSync } from 'node:fs'
    import { createDecoder } from ${JSON.stringify(href)}
    try { for (;;) openSync('/dev/null', 'r') } catch {}
    const request = { contentType: 'image/jpeg', sha256: '' }
    await createDecoder().examine(Buffer.from('x'), request).catch(({ message }) => console.log(message))
    // An error that nobody handles would end the process in this turn.
    await new Promise((resolve) => setImmediate(resolve))
    console.log('goes on')`,
  )
  const limited = ['-c', 'ulimit -n 100; exec "$@"', 'sh', process.execPath, path]
  const { stdout } = await promisify(execFile)('/bin/sh', limited)
  t.match(stdout, /EMFILE\ngoes on/)
})
