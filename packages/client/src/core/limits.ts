export const dayMs = 86_400_000
/**
 * The gateway reads at most 256 KiB of a body that it refuses. After a larger one, the client could
 * see a reset instead of the response (docs/sending.md).
 */
export const segmentBytesMax = 200_000
/**
 * Full storage holds at least this many segments. It makes room by dropping the oldest segment
 * whole, so no segment may be a large part of it.
 */
export const segmentsMin = 10
/** Maximum length of the names of events, users and applications. */
export const identifierMax = 255
export const feedbackMax = 20
/** Maximum length of the text of a feedback, in code points. */
export const feedbackTextMax = 20_000
/**
 * Maximum size of the params of an event, in bytes: with the rest of its request they have to stay
 * below what the gateway reads of a body.
 */
export const paramsBytesMax = 150_000
export const attachmentsMax = 4
/** Events in a request. */
export const batchMax = 500
/** How often a request that gets 500 is attempted. */
export const fewAttempts = 3
/** How often an event may get another id. */
export const generationsMax = 3
export const retryAfterMsMax = dayMs
/** How long the start of a segment waits until the properties of the device are read. */
export const deviceMsMax = 500
/** If a response takes longer, its `Date` says too little about the server's clock. */
export const roundTripMsMax = 8000
