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
/**
 * A day less than the gateway accepts, so that an event does not become too old while it is sent.
 */
export const eventAgeMsMax = 29 * dayMs
export const feedbackMax = 20
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
