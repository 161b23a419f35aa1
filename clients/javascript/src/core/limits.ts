export const dayMs = 86_400_000
/**
 * Maximum size of a segment, in bytes. It arrives at 2,000 bytes a second, not compressed, before
 * the gateway ends the request: the body may fall 40 KB behind 4,096 bytes a second.
 */
export const segmentBytesMax = 30_000
/**
 * The limits of a segment (events and bytes) are at most the limits of the storage, divided by this
 * number. Full storage drops its oldest segment to make room, so each segment must be a small part
 * of the storage.
 */
export const segmentsMin = 10
export const identifierMax = 255
export const feedbackMax = 20
export const feedbackTextMax = 20_000
/**
 * Maximum size of the params of an event, in bytes. The gateway reads the whole of a request with
 * one such event, even if it refuses the request.
 */
export const paramsBytesMax = 150_000
export const attachmentsMax = 4
/**
 * Maximum nesting of the params of an event. The gateway refuses a request that is nested by more
 * than 32, of which the batch, its list and the event are three.
 */
export const jsonDepthMax = 24
export const batchMax = 500
/**
 * After so many refusals, a batch is divided, and a single record rests after each: for `restMs`,
 * times the number of its refusals.
 */
export const fewAttempts = 3
export const restMs = 30_000
/** Maximum number of times that an event gets a new id. */
export const generationsMax = 3
export const retryAfterMsMax = dayMs
/**
 * How long nothing is sent because the storage cannot be read. After that, the client makes a UUID
 * for the device, until the storage can be read.
 */
export const startMsMax = 8000
/** The pause before the storage is read again. */
export const readAgainMs = 500
/** How long the client waits for the platform to return the properties of the device. */
export const deviceMsMax = 500
/**
 * If a response takes longer, the client does not learn the server's clock from it, because the
 * time in a slow response is too uncertain.
 */
export const roundTripMsMax = 8000
