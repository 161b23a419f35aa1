import { limits } from '@intake/contract'

/** Returns the maximum size of a form in bytes, with room for the multipart framing. */
export function formBytesMax(attachmentBytesMax: number): number {
  return limits.payloadBytes + limits.attachments * attachmentBytesMax + 64 * 1024
}

/**
 * The fraction of the bytes in flight for logs, from 0 to 1. The rest is for forms with images.
 * Neither kind can use the share of the other.
 */
export const logShare = 0.3

/**
 * An account (an API key) may hold this many times the bytes that remain free. One greedy account
 * gets two thirds and leaves one third. Two greedy accounts get two fifths each and leave one
 * fifth. So a new account always finds capacity, which a fixed share per account could not
 * guarantee.
 */
export const accountTimesFree = 2

/** The fraction of the total that one account can hold while all other accounts hold nothing. */
export const accountShare = accountTimesFree / (accountTimesFree + 1)
