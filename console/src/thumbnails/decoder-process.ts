import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { thumbnailBytesMax } from '@intake/contract'
import type { Request } from './decoder/make-thumbnail.ts'
import { thumbnailErrors, type Examined } from './examined.ts'
import { splitLine } from './split-line.ts'

/** The decoder cannot work on this machine: `sharp` is not installed, or cannot be loaded. */
export class DecoderMissingError extends Error {
  override name = 'DecoderMissingError'
}

/**
 * The decoder ended before it had examined the picture, took too long, or sent something invalid.
 * `cause` says how it ended, and `cause.cause` what it last wrote to standard error.
 */
export class DecoderEndedError extends Error {
  override name = 'DecoderEndedError'
}

export type Decoder = ReturnType<typeof createDecoder>

/** From the start of the process to its end. */
const timeoutMsMax = 10_000
/** In seconds, as the argument of `ulimit -t`: the process ends although the console was killed. */
const cpuSeconds = 30
/**
 * The memory that the process may allocate, in KiB, as the argument of `ulimit -d`. The process
 * uses 90 MB after its start. On a system without this limit, only `pixelsMax` limits its memory.
 */
const memoryKib = 400_000
/** Of a thumbnail and the lines before it. */
const outputBytesMax = thumbnailBytesMax + 64 * 1024
/** Characters that are kept of the process's standard error: the last ones. */
const writtenMax = 2_000

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** Tests run the built program, too, because V8 without its compiler is slow to load TypeScript. */
const builtScript = pathOf('../../dist/thumbnails/decoder/main.js')
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
export function createDecoder(options: { script?: string; timeoutMs?: number } = {}) {
  let confinement: string | undefined
  const closing = new AbortController()
  return {
    /**
     * How the last process was confined: `confined`, or why it was not; undefined without one.
     * A confined process can read only its program, write nothing, and use no network.
     */
    confinement: () => confinement,

    /**
     * Examines a picture in a process of its own, so that no picture can affect another one.
     *
     * @throws {DecoderMissingError}
     * @throws {DecoderEndedError}
     * @throws {Error} when the process could not be started
     */
    async examine(bytes: Buffer, request: Request): Promise<Examined> {
      const input = Buffer.concat([Buffer.from(`${JSON.stringify(request)}\n`), bytes])
      const { output, failure } = await run({ ...options, input, signal: closing.signal })
      // A process that does not become ready has not read the picture, which is not at fault.
      if (output.length === 0) throw failure ?? new Error('the decoder of pictures sent nothing')
      const { line, rest } = splitLine(output)
      const { missing, obstacle } = line as { missing?: string; obstacle?: string }
      if (missing !== undefined) throw new DecoderMissingError(missing)
      confinement = obstacle ? `not confined: ${obstacle}` : 'confined'
      try {
        if (failure !== undefined) throw failure
        return checked(rest)
      } catch (cause) {
        throw new DecoderEndedError('the decoder of pictures ended', { cause })
      }
    },
    /** Ends the process, and all later ones. */
    end: () => closing.abort(),
  }
}

/** Resolves when the process has ended; `failure` if it did not end by itself and without an error. */
function run(options: {
  input: Buffer
  signal: AbortSignal
  script?: string
  timeoutMs?: number
}): Promise<{ output: Buffer; failure: Error | undefined }> {
  const { input, signal, script = builtScript, timeoutMs: timeout = timeoutMsMax } = options
  const confined = { options: nodeOptions, script, readable: [...readable, dirname(script)] }
  // A shell sets the limits, because Node cannot set them.
  const limits = `ulimit -t ${cpuSeconds}; ulimit -d ${memoryKib} 2>/dev/null; exec "$@"`
  const node = [process.execPath, ...nodeOptions, confinedStart, JSON.stringify(confined)]
  return new Promise((resolve) => {
    const child = execFile(
      '/bin/sh',
      ['-c', limits, 'sh', ...node],
      {
        cwd,
        // The process gets no setting and no secret of the console. The first two variables keep
        // its memory small.
        env: { UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2', VIPS_BLOCK_UNTRUSTED: '1' },
        encoding: 'buffer',
        maxBuffer: outputBytesMax,
        timeout,
        killSignal: 'SIGKILL',
        signal,
      },
      (error, output, stderr) => {
        const ended = error?.signal ?? `exit code ${error?.code}`
        const reason = error?.killed ? `it took longer than ${timeout} ms` : ended
        const cause = new Error(stderr.toString('latin1').slice(-writtenMax))
        const failure = error ? new Error(`the process has ended: ${reason}`, { cause }) : undefined
        resolve({ output, failure })
      },
    )
    // A process that ends early does not read its input. Without file descriptors it has none.
    child.stdin?.on('error', () => {}).end(input)
  })
}

/**
 * Checks what the process sent. A malicious picture may control the process, so only what passes
 * these checks is trusted.
 *
 * @throws {Error} when the message cannot come from the decoder's program
 */
function checked(sent: Buffer): Examined {
  const { line, rest: body } = splitLine(sent)
  const { width, height, error } = line as Record<string, unknown>
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
