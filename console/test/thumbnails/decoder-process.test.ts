import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { obstacles } from '@intake/confinement/landlock.mjs'
import { createDataDir } from '@intake/test-kit/data-dir'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { heic } from '../../../packages/pictures/test/corpus/heic.ts'
import { chunk } from '../../../packages/pictures/test/corpus/containers.ts'
import {
  createDecoder,
  DecoderEndedError,
  DecoderMissingError,
} from '../../src/thumbnails/decoder-process.ts'

const photo = readFileSync(new URL('../../../test/images/photo.jpg', import.meta.url))
const requestFor = (bytes: Buffer, contentType = 'image/jpeg') => ({
  contentType,
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

function openDecoder(t: Test, options: Parameters<typeof createDecoder>[0] = {}) {
  // On a busy machine a picture may take long.
  const decoder = createDecoder({ pictureTimeoutMs: 120_000, ...options })
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

t.test('one process makes several thumbnails, and ends when it is told to', async (t) => {
  const decoder = openDecoder(t)
  t.equal(decoder.pid, undefined, 'it is started when it is needed')
  const { thumbnail } = await decoder.examine(photo, requestFor(photo))
  t.equal(thumbnail?.toString('latin1', 8, 12), 'WEBP')
  const pid = decoder.pid!
  t.ok(pid)
  t.ok((await decoder.examine(photo, requestFor(photo))).thumbnail)
  t.equal(decoder.pid, pid)
  decoder.end()
  t.equal(decoder.pid, undefined)
  await until('the process has ended', () => !isRunning(pid))
})

t.test('a process is replaced after a hundred pictures', async (t) => {
  const decoder = openDecoder(t)
  const text = Buffer.from('no picture')
  const pids = new Set<number | undefined>()
  for (let n = 0; n < 101; n++) {
    await decoder.examine(text, requestFor(text))
    pids.add(decoder.pid)
  }
  t.equal(pids.size, 2)
})

t.test('a process that is killed fails one picture, and the next one has another', async (t) => {
  const decoder = openDecoder(t)
  await decoder.examine(photo, requestFor(photo))
  const { pid = 0 } = decoder
  const examined = decoder.examine(photo, requestFor(photo))
  process.kill(pid, 'SIGKILL')
  await t.rejects(examined, DecoderEndedError)
  t.ok((await decoder.examine(photo, requestFor(photo))).thumbnail)
  t.not(decoder.pid, pid)
})

/** A statement that sends a message as the decoder does. */
function sends(head: object, body = ''): string {
  const json = JSON.stringify(head)
  const lengths = JSON.stringify([0, 0, 0, json.length, 0, 0, 0, body.length])
  return `for (const part of [Buffer.from(${lengths}), ${JSON.stringify(json)}, ${JSON.stringify(body)}])
    process.stdout.write(part);`
}
const ready = sends({})

t.test('a process that takes too long is killed', async (t) => {
  const script = program(t, `${ready} setInterval(() => {}, 1_000)`)
  const decoder = openDecoder(t, { script, pictureTimeoutMs: 500 })
  const examined = decoder.examine(photo, requestFor(photo))
  const { pid = 0 } = decoder
  await t.rejects(examined, DecoderEndedError)
  await until('it has ended', () => !isRunning(pid))
})

t.test('a process that cannot load sharp says so', async (t) => {
  const script = program(t, sends({ missing: 'Could not load the "sharp" module' }))
  const examined = openDecoder(t, { script }).examine(photo, requestFor(photo))
  await t.rejects(examined, DecoderMissingError)
})

t.test('a process that cannot be started is not the fault of the picture', async (t) => {
  const script = program(t, 'throw new Error()')
  const examined = openDecoder(t, { script }).examine(photo, requestFor(photo))
  await t.rejects(examined, {
    name: 'Error',
    message: 'the process has ended: exit code 1',
  })
})

t.test('the error of a process that ended says how, and what it wrote last', async (t) => {
  const script = program(
    t,
    `import { writeSync } from 'node:fs'
    ${ready} process.stdin.once('data', () => {
      writeSync(2, 'x'.repeat(100_000) + 'no memory')
      process.exit(3)
    })`,
  )
  const error = await openDecoder(t, { script })
    .examine(photo, requestFor(photo))
    .catch((reason: unknown) => reason)
  const { cause } = error as { cause: Error & { cause: Error } }
  t.equal(cause.message, 'the process has ended: exit code 3')
  t.match(cause.cause.message, /^x+no memory$/)
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
    await t.rejects(openDecoder(t, { script }).examine(photo, requestFor(photo)), DecoderEndedError)
  }
})

t.test('the process has no setting of the worker', async (t) => {
  process.env['SECRET_OF_THE_WORKER'] = 'secret'
  t.teardown(() => delete process.env['SECRET_OF_THE_WORKER'])
  const decoder = shared
  await decoder.examine(photo, requestFor(photo))
  const environment = readFileSync(`/proc/${decoder.pid}/environ`, 'latin1')
  t.notMatch(environment, /SECRET/)
  t.match(environment, /UV_THREADPOOL_SIZE=1/)
})

const obstacle = obstacles().files ?? obstacles().systemCalls

t.test('it says whether the process is confined', async (t) => {
  const decoder = openDecoder(t)
  t.equal(decoder.confinement, undefined, 'nobody knows before the first picture')
  await decoder.examine(photo, requestFor(photo))
  t.equal(decoder.confinement, obstacle === undefined ? 'confined' : `not confined: ${obstacle}`)
})

t.test(
  'code that a picture brings in reads no secret, writes nothing and reaches nobody',
  { skip: obstacle ?? false },
  async (t) => {
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
        secrets: () => readFileSync('${secrets}'),
        folder: () => readdirSync('${folder}'),
        passwords: () => readFileSync('/etc/passwd'),
        write: () => writeFileSync('${folder}/new', ''),
        writeCode: () => writeFileSync(import.meta.filename ?? new URL(import.meta.url).pathname, ''),
        run: () => execFileSync('/bin/sh', ['-c', 'true']),
        signal: () => process.kill(${process.pid}, 0),
        redis: () => once(connect(${new URL(redis.url).port}, '127.0.0.1'), 'connect'),
        unix: () => once(connect('${folder}/socket'), 'connect'),
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
    const decoder = openDecoder(t, { script })
    const error = await decoder.examine(photo, requestFor(photo)).catch((reason: unknown) => reason)
    const { message } = (error as { cause: { cause: Error } }).cause.cause
    const [found = ''] = /\{.*\}/.exec(message) ?? [] // after a warning of Node
    const { succeeded, environment } = JSON.parse(found) as Record<string, string[]>
    // Landlock keeps signals in from Linux 6.12 on.
    t.same(
      succeeded?.filter((name) => name !== 'signal'),
      [],
    )
    t.notOk(environment?.includes('SECRET_OF_THE_WORKER'))
    t.equal(readFileSync(secrets, 'utf8'), 'a secret', 'this process can read it')
  },
)

t.test('a process that takes more than 400 MB fails', async (t) => {
  const script = program(
    t,
    `${ready} process.stdin.once('data', () => Buffer.alloc(500_000_000, 1).length)
    setInterval(() => {}, 1_000)`,
  )
  const decoder = openDecoder(t, { script })
  await t.rejects(decoder.examine(photo, requestFor(photo)), DecoderEndedError)
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
  await t.rejects(shared.examine(bytes, requestFor(bytes)), DecoderEndedError)
  t.equal(shared.pid, undefined)
})

t.test('bombs get an error, and take neither the process nor memory of the worker', async (t) => {
  const decoder = shared
  await decoder.examine(photo, requestFor(photo))
  const { pid } = decoder
  const before = process.memoryUsage.rss()
  const side = 16_000
  const size = { width: side, height: side }
  for (const [bytes, type, expected] of [
    [bombs.png(side), 'image/png', { ...size, error: 'pixels' }],
    [bombs.gif(side), 'image/gif', { ...size, error: 'pixels' }],
    [bombs.webp(side), 'image/webp', { ...size, error: 'pixels' }],
    [heic.subarray(0, 28), 'image/heic', { error: 'unreadable' }],
  ] as const) {
    t.match(await decoder.examine(bytes, requestFor(bytes, type)), expected, type)
  }
  t.equal(decoder.pid, pid, 'the same process')
  const grown = (process.memoryUsage.rss() - before) / 1024 ** 2
  t.ok(grown < 50, `${grown} MiB`)
})

t.test('a file that is a picture and something else gets a thumbnail of the picture', async (t) => {
  const decoder = shared
  const script = Buffer.from('<script>alert(1)</script>PK\x03\x04')
  const polyglot = Buffer.concat([photo, script])
  const { thumbnail } = await decoder.examine(polyglot, requestFor(polyglot))
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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Small files whose headers announce a square of many pixels. */
const bombs = {
  png(side: number): Buffer {
    const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0])
    header.writeUInt32BE(side, 0)
    header.writeUInt32BE(side, 4)
    const rows = deflateSync(Buffer.alloc(side * 100), { level: 9 })
    return Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('IDAT', rows),
      chunk('IEND'),
    ])
  },
  gif(side: number): Buffer {
    const sides = Buffer.alloc(4)
    sides.writeUInt16LE(side, 0)
    sides.writeUInt16LE(side, 2)
    const black = Buffer.alloc(3)
    const screen = [Buffer.from('GIF89a'), sides, Buffer.from([0x80, 0, 0]), black, black]
    const image = [Buffer.from([0x2c, 0, 0, 0, 0]), sides, Buffer.from([0, 2, 1, 0x44, 0, 0x3b])]
    return Buffer.concat([...screen, ...image])
  },
  webp(side: number): Buffer {
    const data = Buffer.alloc(18)
    data[0] = 0x2f
    data.writeUInt32LE((side - 1) | ((side - 1) << 14), 1)
    const riff = Buffer.from('RIFF\0\0\0\0WEBPVP8L\0\0\0\0', 'latin1')
    riff.writeUInt32LE(12 + data.length, 4)
    riff.writeUInt32LE(data.length, 16)
    return Buffer.concat([riff, data])
  },
}

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
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    'ulimit -n 100; exec "$@"',
    'sh',
    process.execPath,
    path,
  ])
  t.match(stdout, /cannot be started: too many open files\ngoes on/)
})
