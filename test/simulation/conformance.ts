import { deepStrictEqual } from 'node:assert/strict'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'

/** Something the real code waits for, settled by the script. */
export interface Settling {
  confirm: () => void
  fail: (error: Error) => void
}

/** The seeds of the scripts that the model and the real code follow side by side. */
export const scripts = Array.from({ length: 25 }, (_, index) => index + 1)
export const actionsOfScript = 40

/** More than any frame needs to be compressed. */
const turnsMax = 100_000

/**
 * Lets the real code run until it has done as much as the model, and a little longer.
 *
 * @throws {AssertionError} when it has then not done the same
 */
export async function follow(options: { real: () => unknown[]; model: () => unknown[] }) {
  const { real, model } = options
  for (let turn = 0; real().length < model().length && turn < turnsMax; turn++) {
    await turnOfTheLoop()
  }
  for (let turn = 0; turn < 3; turn++) await turnOfTheLoop()
  deepStrictEqual(real(), model())
}
