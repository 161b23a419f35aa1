import type { FastifyMultipartBaseOptions } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { IntakeError, limits } from '@intake/contract'
import { compileSchema, FeedbackPayload } from '@intake/contract/schemas'
import { rowJson, type PrintJson, checkJson } from '@intake/json'
import { type Turns } from '@intake/http-edge'
import { takeInvalidEmail, trimEmail, type InvalidEmail } from '../record/feedback-fields.ts'
import { requireApiKey, requireLease } from '../request.ts'
import { invalidPart, omit, readParts, type FormParts, type Omitted } from './form-parts.ts'
import { watchForm, type FormWatch } from './form-watch.ts'
import { parseInTurns } from '../body/parse-in-turns.ts'
import { examineUpload, type AttachmentRules, type Upload } from './upload.ts'

const validatePayload = compileSchema(FeedbackPayload)

export interface FeedbackForm {
  /** Whether images that cannot be stored are left out, instead of refusing the form. */
  isLenient: boolean
  payload: FeedbackPayload
  invalidEmail: InvalidEmail | undefined
  print: PrintJson
  textBytes: number
  /** The file parts, in their order. They may have any name. */
  uploads: Upload[]
  /** The other text parts, by name; several of the same name become a list. */
  fields: Record<string, string | string[]>
  omitted: Omitted | undefined
}

/**
 * Makes the parser emit every part as a stream of bytes, so that nothing is truncated or decoded.
 */
export function multipartOptions(formBytesMax: number): FastifyMultipartBaseOptions {
  return {
    isPartAFile: () => true,
    throwFileSizeLimit: false,
    // This buffer is larger than the data that can arrive in one turn of the event loop. With a
    // smaller buffer the parser stalls on a part that it skips.
    fileHwm: 1024 * 1024,
    limits: {
      parts: limits.formParts,
      files: limits.formParts,
      fileSize: formBytesMax,
      headerPairs: 32,
    },
  }
}

/** Whether the request has `Prefer: handling=lenient` (RFC 7240). */
export function isLenientForm(request: FastifyRequest): boolean {
  const prefer = request.headers['prefer']
  return /(^|[,;\s])handling\s*=\s*"?lenient"?\s*([,;]|$)/i.test(String(prefer ?? ''))
}

/**
 * Reads a form to its end; its parts may have any order. Files are held in memory. A file that is
 * too large, or exceeds the maximum number of files, is discarded; its `Upload` has the error.
 *
 * @throws {IntakeError} when the form is malformed or too large, or the payload is missing or
 * invalid
 */
export async function readFeedbackForm(
  request: FastifyRequest,
  { turns, attachments: rules }: { turns: Turns; attachments: AttachmentRules },
): Promise<FeedbackForm> {
  const isLenient = isLenientForm(request)
  const parts = await readForm(request, rules, isLenient)
  const { payload: bytes, uploads: received, texts, omitted } = parts
  if (bytes === undefined) throw invalidPart('/payload', 'is required')
  if (bytes.length === 0) throw new IntakeError('invalid_json', 'The payload is empty.')
  const lease = requireLease(request)
  const account = requireApiKey(request).id
  const { value: payload, isPlain } = await parseInTurns(bytes, {
    turns,
    account,
    nodesMax: limits.jsonNodes,
    charge: (cost) => lease.extend(cost),
  })
  if (!isPlain) checkJson(payload, { pointer: '/payload' })
  const fields = fieldsOf(texts, limits.payloadBytes - bytes.length, omitted)
  trimEmail(payload)
  const invalidEmail = isLenient ? takeInvalidEmail(payload) : undefined
  const valid = validatePayload(payload, '/payload')
  const uploads: Upload[] = []
  for (const [index, one] of received.entries()) {
    uploads.push(await examineUpload(one, { index, rules, turns, account }))
  }
  return {
    isLenient,
    payload: valid,
    invalidEmail,
    print: isPlain ? JSON.stringify : rowJson,
    textBytes: bytes.length + texts.reduce((sum, { text }) => sum + text.length, 0),
    uploads,
    fields,
    omitted: omitted.parts > 0 ? omitted : undefined,
  }
}

async function readForm(
  request: FastifyRequest,
  rules: AttachmentRules,
  isLenient: boolean,
): Promise<FormParts> {
  let watch: FormWatch | undefined
  const damage = new Set<unknown>()
  try {
    // A lenient form has no maximum size: its oversized files are discarded, and its text is stored.
    watch = watchForm(request.raw, isLenient ? Infinity : rules.formBytesMax)
    const reading = readParts(request, rules, (error) => damage.add(error))
    const parts = await Promise.race([reading, watch.failure])
    if (parts.count === watch.parts()) return parts
    const detail = 'Every part needs a header with Content-Disposition: form-data.'
    throw new IntakeError('invalid_multipart', watch.reason() ?? detail)
  } catch (error) {
    const { code } = error as { code?: unknown }
    // The parser ends a part that is not complete without an error of its own.
    const isDamage = damage.has(error) || code === 'ERR_STREAM_PREMATURE_CLOSE'
    throw isDamage ? refusalOf(error, watch?.reason()) : error
  } finally {
    watch?.close()
    // Discards the rest of a refused form, so that the client can read the response.
    request.raw.unpipe()
    request.raw.resume()
  }
}

function refusalOf(cause: unknown, reason = 'The form cannot be parsed.'): IntakeError {
  const { code = '' } = cause as { code?: string }
  if (partsLimits.has(code)) {
    return new IntakeError('body_too_large', `A form has at most ${limits.formParts} parts.`)
  }
  if (code === 'FST_PROTO_VIOLATION') {
    const detail = 'No part may be named as a member of every JavaScript object, like constructor.'
    return new IntakeError('invalid_multipart', detail, { cause })
  }
  return new IntakeError('invalid_multipart', reason, { cause })
}

const partsLimits = new Set(['FST_PARTS_LIMIT', 'FST_FILES_LIMIT'])

/**
 * @param room the number of bytes that the payload leaves for the text parts
 * @param omitted counts the parts that do not fit
 */
function fieldsOf(
  texts: FormParts['texts'],
  room: number,
  omitted: Omitted,
): FeedbackForm['fields'] {
  const fields = Object.create(null) as FeedbackForm['fields']
  let roomLeft = room
  for (const { name, text } of texts) {
    const bytes = Buffer.byteLength(name) + text.length
    if (bytes > roomLeft) {
      omit(omitted, text.length)
      continue
    }
    roomLeft -= bytes
    const earlier = fields[name]
    // Invalid UTF-8 becomes U+FFFD, because it is no reason to refuse the feedback.
    fields[name] = earlier === undefined ? text.toString() : [earlier, text.toString()].flat()
  }
  return fields
}
