/**
 * The gateway reads at most 256 KiB of a body that it refuses; a larger one could meet a reset
 * instead of the answer (docs/sending.md).
 */
export const segmentBytesMax = 200_000
/** A segment never has more of what may wait than this part, because the oldest one goes whole. */
export const segmentsMin = 10
/** Of names of events, users and applications. */
export const identifierMax = 255
/** A day less than what the gateway takes: an event should not become too old on its way. */
export const eventAgeMsMax = 29 * 86_400_000
export const feedbackMax = 20
export const attachmentsMax = 4
/** Attempts of a request that gets 500. */
export const fewAttempts = 3
/** How often an event may get another id. */
export const generationsMax = 3
export const retryAfterMsMax = 86_400_000
/** How long the start of a segment waits for the properties of the device. */
export const deviceMsMax = 500
/** Above this, the time that an answer took says too little about the server's clock. */
export const roundTripMsMax = 8000
