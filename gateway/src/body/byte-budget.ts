import { IntakeError } from '@intake/contract'
import type { ByteLease } from '../request.ts'
import { createShares, type Shares } from '../admission/fairness/shares.ts'

export interface ByteBudget {
  /**
   * Opens the lease of one request. The lease takes one of the places for requests in flight. It
   * takes no bytes yet: bytes are charged as they arrive.
   *
   * @param options.account the API key that is charged
   * @param options.expectedBytes the declared length; so many bytes must be available now, but they
   * are not reserved
   * @throws {IntakeError} `busy`
   */
  lease(options: { account: string; expectedBytes: number }): ByteLease
  readonly bytesMax: number
  bytesUsed(): number
}

/**
 * Creates a budget that limits the memory for request bodies of one kind. No API key gets more than
 * its share (see `Shares`).
 *
 * @param options.requests places for requests in flight, shared by all kinds
 */
export function createByteBudget(options: { bytesMax: number; requests: Shares }): ByteBudget {
  const bytes = createShares(options.bytesMax)
  const { requests, bytesMax } = options
  return {
    bytesMax,
    bytesUsed: bytes.used,
    lease({ account, expectedBytes }) {
      if (!bytes.hasRoom(account, expectedBytes)) throw tooManyBytes()
      if (!requests.take(account, 1)) {
        throw new IntakeError('busy', 'Too many requests are in flight.')
      }
      return new Lease({ account, bytes, requests })
    },
  }
}

class Lease implements ByteLease {
  readonly #account: string
  readonly #bytes: Shares
  readonly #requests: Shares
  #held = 0
  #retained = 0
  #isReleased = false
  #isSettled = false

  constructor(options: { account: string; bytes: Shares; requests: Shares }) {
    this.#account = options.account
    this.#bytes = options.bytes
    this.#requests = options.requests
  }

  extend(bytes: number): void {
    if (this.#isReleased) throw new IntakeError('malformed_http', 'The client has disconnected.')
    if (!this.#bytes.take(this.#account, bytes)) throw tooManyBytes()
    this.#held += bytes
  }

  release = (): void => {
    this.#isReleased = true
    this.#giveBack()
  }

  retainWhile<Result>(work: Promise<Result>): Promise<Result> {
    this.#retained++
    const letGo = () => {
      this.#retained--
      this.#giveBack()
    }
    work.then(letGo, letGo)
    return work
  }

  #giveBack(): void {
    if (!this.#isReleased || this.#retained > 0 || this.#isSettled) return
    this.#isSettled = true
    this.#bytes.giveBack(this.#account, this.#held)
    this.#requests.giveBack(this.#account, 1)
  }
}

function tooManyBytes(): IntakeError {
  return new IntakeError('busy', 'Too many bytes are in flight.')
}
