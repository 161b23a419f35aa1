import { IntakeError } from '@intake/contract'

/**
 * Waits for several rows of one request with one promise.
 *
 * @param begin called at once; for each row it must call either `resolve` or `reject`, at once or
 * later
 * @throws {IntakeError} the first failure, when all rows have certainly failed; `outcome_unknown`
 * when some rows may be stored
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
      const [cause] = failures
      if (cause === undefined) resolve()
      else if (failures.length === rows && failures.every(isCertain)) reject(cause)
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

const isCertain = ({ code }: IntakeError) => code !== 'outcome_unknown'
