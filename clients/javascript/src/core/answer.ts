import { correctedNow, eraOf, observe } from './clock.ts'
import { isAboutSettings, isDefinite, isUnsettled, parseObject } from './decide.ts'
import { fewAttempts, restMs, roundTripMsMax } from './limits.ts'
import { isoTime } from './log-event.ts'
import type { Answer, OutgoingRequest } from './ports.ts'
import type { Attemptable } from './segment-list.ts'
import { wake } from './sending.ts'
import type { Sent } from './sent.ts'
import type { State } from './state.ts'

export interface Attempted {
  /** The parsed response body; false if the request failed. */
  body: ResponseBody | false
  /**
   * How sending continues if the records have no final result and are kept. Undefined if they have
   * a final result.
   */
  unsettled?: Sent | undefined
  /**
   * The error code in the response. If it has none: `http_` and the status, or `http_0` if there
   * was no response.
   */
  code: string
  /** True if a smaller request could succeed. */
  isTooLarge: boolean
  /** True if it is certain that nothing was stored. */
  isDefinite: boolean | ''
}

export interface ResponseBody {
  id?: string
  results?: unknown
  attachments?: unknown
  code?: string
  detail?: string
  server_time?: string
}

/**
 * Sends a request, and evaluates what the responses for log events and for feedback have in common.
 *
 * @param entry the segment or feedback that is sent. `failures` counts its refusals (`isRefusal`);
 *   after three, it rests, and then gets one more attempt at a time
 */
export const attemptRequest = async (
  client: State,
  request: OutgoingRequest,
  entry: Attemptable,
): Promise<Attempted> => {
  const began = client.monotonic()
  const era = eraOf(client)
  const {
    status = 0,
    body: text = '',
    date,
    retryAfter,
    error,
  }: Partial<Answer> & { error?: string } = await client
    .transport(request)
    .catch((reason: Error) => ({ error: reason.message }))
  const tookMs = client.monotonic() - began
  const body: ResponseBody = parseObject(text)
  // A proxy may send a number.
  const code = typeof body.code === 'string' && body.code
  const isSuccess = status === 201 || status === 207
  // The header `Date` is rounded down to seconds. Half a second is added, because that much is cut
  // off on average.
  const serverMs = Date.parse(body.server_time!) || Date.parse(date!) + 500
  // Learns the server's clock only from Intake's own responses, because a proxy responds with its
  // own time. Learns nothing if the device slept or its clock was set meanwhile: the duration of
  // the request is then unknown.
  const isOfIntake = isSuccess ? body.id || body.results : code
  if (serverMs && isOfIntake && tookMs < roundTripMsMax && eraOf(client) === era)
    observe(client, serverMs, tookMs)
  // `Retry-After` is a number of seconds or a date. If it is absent, the result is 0, for which the
  // send loop chooses the pause.
  const retryAfterMs =
    Number(retryAfter) * 1000 || Date.parse(retryAfter!) - correctedNow(client) || 0
  const reason = code || `http_${status}`
  let unsettled: Sent | undefined
  if (status !== 413 && (!isOfIntake || (!isSuccess && isUnsettled(status)))) {
    unsettled = { retryAfterMs }
    // Neither an outage nor a limit of requests: it may concern what the records contain. The first
    // request without a response may, too: it follows a success.
    const isRefusal =
      !(code && isAboutSettings(status)) &&
      (status || !client.refusals) &&
      status <= 500 &&
      status !== 429
    if (isRefusal) {
      client.refusals++
      if (++entry.failures >= fewAttempts) {
        entry.isResting = true
        client.setTimeout(
          () => {
            entry.isResting = false
            wake(client)
          },
          entry.failures * restMs,
          true,
        )
      }
    }
  } else client.refusals = 0
  if (!isSuccess && refuse(text, client.refused)) unsettled = {}
  else if (code && isAboutSettings(status) && !retryAfterMs) client.stopReason = code
  if (unsettled || !isSuccess)
    client.lastFailure = {
      time: isoTime(correctedNow(client)),
      status,
      code: reason,
      message: error || body.detail,
    }
  return {
    body: isSuccess && body,
    unsettled,
    code: reason,
    isTooLarge: status === 413,
    isDefinite: isDefinite(status, code),
  }
}

/**
 * Adds to `refused` the properties of the device that an error response points to, so that later
 * requests leave them out.
 *
 * @returns whether at least one of them is new
 */
const refuse = (problem: string, refused: State['refused']): boolean => {
  const known = Object.keys(refused).length
  // In the response to a feedback, the pointers begin with the name of the part.
  for (const pointer of problem.match(/"(\/payload)?\/device\/\w+/g) || []) {
    refused[pointer.split('device/')[1]!] = undefined
  }
  return Object.keys(refused).length > known
}
