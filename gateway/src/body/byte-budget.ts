import { accountTimesFree } from '@intake/config'
import { IntakeError } from '@intake/contract'
import type { ByteLease } from '../request.ts'

export type ByteBudget = ReturnType<typeof createByteBudget>

/** @param options.requests places for requests in flight, shared by all kinds */
export function createByteBudget(options: { bytesMax: number; requests: Shares }) {
  const bytes = createShares(options.bytesMax)
  const { requests, bytesMax } = options
  return {
    bytesMax,
    bytesUsed: bytes.used,
    /**
     * Takes a place for a request in flight, and no bytes yet: they are charged as they arrive.
     *
     * @param options.account the API key that is charged
     * @param options.expectedBytes so many bytes must be available now, but they are not reserved
     * @throws {IntakeError} `busy`
     */
    lease({ account, expectedBytes }: { account: string; expectedBytes: number }): ByteLease {
      if (!bytes.hasRoom(account, expectedBytes)) throw tooManyBytes()
      if (!requests.take(account, 1)) {
        throw new IntakeError('busy', 'Too many requests are in flight.')
      }
      return openLease(account, bytes, requests)
    },
  }
}

function openLease(account: string, bytes: Shares, requests: Shares): ByteLease {
  let held = 0
  let retained = 0
  let isReleased = false
  let isSettled = false

  function giveBack(): void {
    if (isSettled) return
    isSettled = true
    bytes.giveBack(account, held)
    requests.giveBack(account, 1)
  }

  return {
    extend(amount) {
      if (isReleased) throw new IntakeError('malformed_http', 'The client has disconnected.')
      if (!bytes.take(account, amount)) throw tooManyBytes()
      held += amount
    },
    release() {
      isReleased = true
      if (retained === 0) giveBack()
    },
    retainWhile(work) {
      retained++
      const letGo = () => {
        retained--
        if (isReleased && retained === 0) giveBack()
      }
      work.then(letGo, letGo)
      return work
    },
  }
}

function tooManyBytes(): IntakeError {
  return new IntakeError('busy', 'Too many bytes are in flight.')
}

export type Shares = ReturnType<typeof createShares>

/** Divides an amount among accounts, so that no account can starve the others. */
export function createShares(total: number) {
  const held = new Map<string, number>()
  let free = total

  return {
    /**
     * Whether the account can take `amount` more now. With it, the account may have at most
     * `accountTimesFree` times the amount that then remains free.
     */
    hasRoom: (account: string, amount: number) =>
      (held.get(account) ?? 0) + amount <= accountTimesFree * (free - amount),
    /** Returns false and takes nothing if `amount` is not available. */
    take(account: string, amount: number): boolean {
      const taken = (held.get(account) ?? 0) + amount
      if (taken > accountTimesFree * (free - amount)) return false
      free -= amount
      held.set(account, taken)
      return true
    },
    giveBack(account: string, amount: number): void {
      free += amount
      const rest = (held.get(account) ?? 0) - amount
      if (rest > 0) held.set(account, rest)
      else held.delete(account)
    },
    used: () => total - free,
  }
}
