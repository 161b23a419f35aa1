import { limits } from '@intake/contract'

/** Returns the maximum size of a form in bytes, with room for the multipart framing. */
export function formBytesMax(attachmentBytesMax: number): number {
  return limits.payloadBytes + limits.attachments * attachmentBytesMax + 64 * 1024
}

/** Of the bytes in flight, for logs; the rest is for forms. Neither uses the other's share. */
export const logShare = 0.3

/**
 * An API key may hold this many times the bytes that remain free: one greedy key two thirds, two of
 * them two fifths each. So a new one always finds room, which a fixed share could not guarantee.
 */
export const accountTimesFree = 2

/** The fraction of the total that one account can hold while all other accounts hold nothing. */
export const accountShare = accountTimesFree / (accountTimesFree + 1)
