import { IntakeError } from '@intake/contract'
import { mayBeStored } from './may-be-stored.ts'

/**
 * Waits for several rows of one request with one promise.
 *
 * @param begin called at once; for each row, it must arrange that `resolve` or `reject` is called
 * once
 * @throws {IntakeError} `outcome_unknown` if only some rows have failed. If all have failed: the
 * first failure after which a row may be stored, else the first failure
 */
export function settleTogether(
  rows: number,
  begin: (resolve: () => void, reject: (error: IntakeError) => void) => void,
): Promise<void> {
  if (rows === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const failures: IntakeError[] = []
    let left = rows

    function settleOne(): void {
      left--
      if (left > 0) return
      const cause = failures.find(mayBeStored) ?? failures[0]
      if (cause === undefined) resolve()
      else if (failures.length === rows) reject(cause)
      else {
        reject(new IntakeError('outcome_unknown', 'Some of the records may be stored.', { cause }))
      }
    }

    begin(settleOne, (error) => {
      failures.push(error)
      settleOne()
    })
  })
}
