import { deepStrictEqual } from 'node:assert/strict'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'

/** An operation that the real code waits for and the script settles. */
export interface Settling {
  confirm: () => void
  fail: (error: Error) => void
}

/** The seeds of the scripts that both the model and the real code run. */
export const scripts = Array.from({ length: 25 }, (_, index) => index + 1)
export const actionsOfScript = 40

/** More than it takes to compress any frame. */
const turnsMax = 100_000

/**
 * Lets the real code run until it has done as much as the model, and a little longer.
 *
 * @throws {AssertionError} if it has then not done the same
 */
export async function follow(options: { real: () => unknown[]; model: () => unknown[] }) {
  const { real, model } = options
  for (let turn = 0; real().length < model().length && turn < turnsMax; turn++) {
    await turnOfTheLoop()
  }
  for (let turn = 0; turn < 3; turn++) await turnOfTheLoop()
  deepStrictEqual(real(), model())
}
