import type { IncomingMessage } from 'node:http'
import { limits } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import { createWindowSketch } from './window-sketch.ts'

/**
 * Limits how often each client address may do something in a minute, such as send a wrong API key.
 * It needs half a megabyte of memory for any number of addresses.
 */
export interface AddressLimit {
  /**
   * Counts one action of the address that sent the request; returns false if the address has
   * reached its limit.
   */
  take(request: IncomingMessage): boolean
  /** Milliseconds until an address that was refused may try again. */
  msLeft(): number
}

const width = 2 ** 15

export function createAddressLimit(options: {
  addressOf: (request: IncomingMessage) => string
  max: number
  clock: Pick<Clock, 'now'>
}): AddressLimit {
  const { addressOf, max, clock } = options
  const sketch = createWindowSketch({ width, windowMs: limits.rateWindowMs, clock })
  return {
    take: (request) => sketch.take({ account: '', member: addressOf(request) }, 1, max),
    msLeft: sketch.msLeft,
  }
}
