import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { thumbnailBytesMax } from '@intake/contract'
import { withTimeout } from '@intake/runtime'
import type { Request } from './decoder/make-thumbnail.ts'
import { thumbnailErrors, type Examined } from './examined.ts'
import { readMessages, writeMessage } from './message-stream.ts'

/** The decoder cannot work on this machine: `sharp` is not installed, or cannot be loaded. */
export class DecoderMissingError extends Error {
  override name = 'DecoderMissingError'
}

/**
 * The decoder ended before it had examined the picture, or was ended because it took too long or
 * sent something invalid. `cause.message` identifies the kind of failure. If the process ended by
 * itself, `cause.cause.message` is the last text that it wrote to standard error.
 */
export class DecoderEndedError extends Error {
  override name = 'DecoderEndedError'
}

export type Decoder = ReturnType<typeof createDecoder>

const startTimeoutMs = 60_000
const pictureTimeoutMs = 10_000
/** Then the process is replaced, because decoders may leak memory. */
const picturesMax = 100
/**
 * The memory that the process may allocate, in KiB, as the argument of `ulimit -d`. The process
 * uses 90 MB after its start. On a system without this limit, only `pixelsMax` limits its memory.
 */
const memoryKib = 400_000

/** Characters that are kept of the process's standard error: the last ones. */
const writtenMax = 2_000

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** Tests run the built program, too, because V8 without its compiler is slow to load TypeScript. */
const script = pathOf('../../dist/thumbnails/decoder/main.js')
const confinedStart = pathOf('../../../packages/confinement/src/run-confined.mjs')
/** The code that the process needs. No setting, secret or data is in these folders. */
const readable = ['../..', '../../../packages', '../../../node_modules'].map(pathOf)
/** Node resolves `--import` from this folder, and ends if it may not read its `package.json`. */
const cwd = pathOf('../..')
/**
 * `--jitless` turns off V8's compiler. From Node 24 on, this compiler reserves 520 MB of memory,
 * which counts as data, so `ulimit -d` would end the process at its start.
 */
const nodeOptions = ['--jitless', '--max-old-space-size=64']

/** @param options.script replaces the program of the process, in tests */
export function createDecoder(options: { script?: string; pictureTimeoutMs?: number } = {}) {
  let running: Running | undefined
  let confinement: string | undefined

  function endRunning(): void {
    running?.kill()
    running = undefined
  }

  return {
    get pid() {
      return running?.pid
    },
    /**
     * How the last process was confined: `confined`, or why it was not; undefined without one.
     * A confined process can read only its program, write nothing, and use no network.
     */
    get confinement() {
      return confinement
    },
    /**
     * Examines a picture. Call it for one picture at a time.
     *
     * @throws {DecoderMissingError}
     * @throws {DecoderEndedError}
     * @throws {Error} when the process could not be started
     */
    async examine(bytes: Buffer, request: Request): Promise<Examined> {
      if (running !== undefined && running.pictures >= picturesMax) endRunning()
      running ??= start(options.script ?? script)
      const current = running
      const endCurrent = () => {
        current.kill()
        if (running === current) running = undefined
      }
      // A process that does not become ready has not got the picture yet. So the picture is not at
      // fault, and the error is thrown unchanged.
      confinement = await current.ready.catch((error: unknown) => {
        endCurrent()
        throw error
      })
      try {
        current.pictures++
        writeMessage(current.input, { head: request, body: bytes })
        return await withTimeout(
          current.next(),
          options.pictureTimeoutMs ?? pictureTimeoutMs,
          'decoding a picture',
        )
      } catch (cause) {
        endCurrent()
        throw new DecoderEndedError('the decoder of pictures ended', { cause })
      }
    },
    /** The next picture starts a new process. */
    end: endRunning,
  }
}

type Running = ReturnType<typeof start>

function start(path: string) {
  const options = JSON.stringify({
    options: nodeOptions,
    script: path,
    readable: [...readable, dirname(path)],
  })
  // A shell sets the limit of memory, because Node cannot set one.
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      `ulimit -d ${memoryKib} 2>/dev/null; exec "$@"`,
      'sh',
      process.execPath,
      ...nodeOptions,
      confinedStart,
      options,
    ],
    {
      cwd,
      // The process gets no setting and no secret of the console. The first two variables keep its
      // memory small.
      env: { UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2', VIPS_BLOCK_UNTRUSTED: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
  const { stdin, stdout, stderr } = child as Partial<typeof child>
  // If the process cannot be started or is killed, its output ends, and `next` reports this. If no
  // file descriptor is left, there is no output at all.
  child.on('error', () => stdout?.destroy())
  if (stdin === undefined || stdout === undefined || stderr === undefined) {
    throw new Error('the decoder of pictures cannot be started: too many open files')
  }
  const messages = readMessages(stdout, thumbnailBytesMax)
  stdin.on('error', () => {})
  let written = ''
  stderr.setEncoding('latin1').on('data', (text: string) => {
    written = (written + text).slice(-writtenMax)
  })
  const ended = new Promise<Error>((resolve) => {
    child.on('close', (code, signal) => {
      const reason = signal ?? `exit code ${code}`
      resolve(new Error(`the process has ended: ${reason}`, { cause: new Error(written) }))
    })
  })

  async function read() {
    const { done, value } = await messages.next()
    if (done) throw await ended
    return value
  }

  async function untilReady(): Promise<string> {
    const { head } = await withTimeout(read(), startTimeoutMs, 'starting the decoder')
    const { missing, obstacle } = head as { missing?: string; obstacle?: string }
    if (missing !== undefined) throw new DecoderMissingError(missing)
    return obstacle ? `not confined: ${obstacle}` : 'confined'
  }

  return {
    pid: child.pid,
    pictures: 0,
    input: stdin,
    ready: untilReady(),
    next: async () => checked(await read()),
    kill: () => child.kill('SIGKILL'),
  }
}

/**
 * Checks what the process sent. A malicious picture may control the process, so only what passes
 * these checks is trusted.
 *
 * @throws {Error} when the message cannot come from the decoder's program
 */
function checked({ head, body }: { head: unknown; body: Buffer }): Examined {
  const { width, height, error } = head as Record<string, unknown>
  const known = thumbnailErrors.find((one) => one === error)
  const isThumbnail =
    body.toString('latin1', 0, 4) === 'RIFF' && body.toString('latin1', 8, 12) === 'WEBP'
  if (![width, height].every(isSide) || isThumbnail !== (error === undefined)) {
    throw new Error('the decoder sent something else')
  }
  const size = { width: width as number | undefined, height: height as number | undefined }
  if (isThumbnail) return { ...size, thumbnail: body }
  if (known === undefined) throw new Error('the decoder sent an unknown error')
  return { ...size, error: known }
}

const isSide = (side: unknown) =>
  side === undefined ||
  (Number.isSafeInteger(side) && (side as number) > 0 && (side as number) < 2 ** 32)
