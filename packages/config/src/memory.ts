import { limits } from '@intake/contract'

/**
 * Maximum memory that one member or element of a parsed JSON document takes, in bytes. It was
 * measured with objects that have no property names in common (docs/decisions/0008-json-bodies.md).
 */
export const nodeBytes = 160

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
