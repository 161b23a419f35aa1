import { gzipSync } from 'node:zlib'
import { createCorpus, type BodySize, type LogBody } from '../corpus.ts'

export type RequestKind =
  | { kind: 'log'; size: BodySize }
  | { kind: 'batch'; size: BodySize; entries: number; gzip: boolean }
  | { kind: 'feedback'; images: number; imageBytes: number }

/** Requests as bytes on the wire. */
export interface PreparedRequests {
  /**
   * Request number `index`, from 0. After the last prepared request, the first one follows again.
   */
  at(index: number): Buffer
  eventsPerRequest: number
}

const seed = 20_261_121
/** The number of prepared batches. Each begins at a different event of the corpus. */
const batches = 16
/**
 * The maximum number of prepared forms. If forms are large, fewer are prepared: together they have
 * at most `formBytesMax` bytes, unless a single form is larger.
 */
const formsMax = 8
const formBytesMax = 64 * 1024 * 1024

export function prepareRequests(kind: RequestKind, apiKey: string): PreparedRequests {
  const prepared = buildRequests(kind, apiKey)
  return {
    at: (index) => prepared[index % prepared.length] as Buffer,
    eventsPerRequest: kind.kind === 'batch' ? kind.entries : 1,
  }
}

function buildRequests(kind: RequestKind, apiKey: string): Buffer[] {
  if (kind.kind === 'batch') return batchRequests(kind, apiKey)
  if (kind.kind === 'feedback') {
    const forms = Math.floor(formBytesMax / (kind.images * kind.imageBytes))
    return Array.from({ length: Math.max(1, Math.min(forms, formsMax)) }, (_, index) =>
      feedbackRequest(kind, { apiKey, index }),
    )
  }
  return createCorpus({ size: kind.size, seed }).map((log) => {
    const body = Buffer.from(JSON.stringify(log))
    return request({ path: '/api/log', apiKey, body })
  })
}

function request(options: {
  path: string
  apiKey: string
  body: Buffer
  contentType?: string
  gzip?: boolean
}): Buffer {
  const { path, apiKey, body, contentType = 'application/json', gzip = false } = options
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'user-agent: intake-bench',
    `x-api-key: ${apiKey}`,
    `content-type: ${contentType}`,
    ...(gzip ? ['content-encoding: gzip'] : []),
    `content-length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

/**
 * Builds batches of logs. All logs of a batch have one device context, like the logs that an SDK
 * has collected on a phone.
 */
function batchRequests(
  { size, entries, gzip }: RequestKind & { kind: 'batch' },
  apiKey: string,
): Buffer[] {
  const corpus = createCorpus({ size, seed })
  return Array.from({ length: batches }, (_, batch) => {
    const logs = Array.from(
      { length: entries },
      (__, index) => (corpus[(batch * 61 + index) % corpus.length] as LogBody).log,
    )
    const { log: _own, ...context } = corpus[batch * 7] as LogBody
    const json = Buffer.from(JSON.stringify({ ...context, logs }))
    const body = gzip ? gzipSync(json) : json
    return request({ path: '/api/log/batch', apiKey, body, gzip })
  })
}

/**
 * Builds a form in which PNG and JPEG images alternate. Their pixels are noise, because compressed
 * pixels look like noise.
 */
function feedbackRequest(
  { images, imageBytes }: { images: number; imageBytes: number },
  { apiKey, index }: { apiKey: string; index: number },
): Buffer {
  const [{ log: _log, ...context }] = createCorpus({ size: 1_300, seed: seed + index }) as [LogBody]
  const payload = { ...context, feedback: { text: `The map stays empty, attempt ${index}.` } }
  const boundary = 'intake-bench-boundary'
  const part = (headers: string[], content: Buffer) => [
    Buffer.from(`--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ]
  const disposition = 'content-disposition: form-data; name='
  const imagePart = (image: number) => {
    const isPng = (index + image) % 2 === 0
    const headers = [
      `${disposition}"attachments"; filename="${image}.${isPng ? 'png' : 'jpg'}"`,
      `content-type: image/${isPng ? 'png' : 'jpeg'}`,
    ]
    return part(headers, (isPng ? png : jpeg)(imageBytes, index * 10 + image))
  }
  const body = Buffer.concat([
    ...part([`${disposition}"payload"`], Buffer.from(JSON.stringify(payload))),
    ...Array.from({ length: images }, (_, image) => imagePart(image)).flat(),
    Buffer.from(`--${boundary}--\r\n`),
  ])
  const contentType = `multipart/form-data; boundary=${boundary}`
  return request({ path: '/api/feedback', apiKey, body, contentType })
}

/** The beginning of a PNG, up to its pixels. `png` replaces the length of the pixel data. */
const pngHead = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000004000000080008020000009d6f3c2b0004000049444154',
  'hex',
)

const pngEnd = Buffer.from('0000000049454e44ae426082', 'hex')

function png(bytes: number, salt: number): Buffer {
  const image = noise(bytes, salt)
  pngHead.copy(image)
  const chunkAt = pngHead.length - 8
  image.writeUInt32BE(bytes - chunkAt - 12 - pngEnd.length, chunkAt)
  pngEnd.copy(image, bytes - pngEnd.length)
  return image
}

/**
 * The beginning of a JPEG: an empty Exif segment of 1,000 bytes, the frame header and the scan
 * header.
 */
const jpegHead = Buffer.concat([
  Buffer.from('ffd8ffe103e8457869660000', 'hex'),
  Buffer.alloc(1_000 - 8),
  Buffer.from('ffc0000b080300040001011100ffda0008010100003f00', 'hex'),
])
const jpegEnd = Buffer.from('ffd9', 'hex')

function jpeg(bytes: number, salt: number): Buffer {
  const image = noise(bytes, salt)
  // In the scan of a JPEG, a zero must follow each 0xff of the data.
  for (let at = image.indexOf(0xff); at !== -1; at = image.indexOf(0xff, at + 1)) image[at + 1] = 0
  jpegHead.copy(image)
  jpegEnd.copy(image, bytes - jpegEnd.length)
  return image
}

function noise(bytes: number, salt: number): Buffer {
  const data = Buffer.alloc(bytes)
  for (let at = 0, state = salt + 1; at + 4 <= bytes; at += 4) {
    state = Math.imul(state, 1_664_525) + 1_013_904_223
    data.writeInt32LE(state | 0, at)
  }
  return data
}
