import { helpOf } from '@intake/health/problem-catalogue'
import { ClickHouseError, describeError } from '@intake/clickhouse'
import type { QueueName } from '@intake/queue'
import { pause, type Clock } from '@intake/runtime'
import type { Logger } from '@intake/runtime/process'
import { nextPauseMs } from './back-off.ts'
import type { DeliveryEvents } from './ports.ts'

/** The number of consecutive failures of an insert as `rejected` (`refusals`) and as `split`. */
export interface ConsecutiveFailures {
  refusals: number
  splitFailures: number
}

/**
 * Repeats an insert until it is confirmed, with pauses from one second to a minute, shortened at
 * random by up to half. Resolves to undefined, or to the failure after which `shouldGiveUp`
 * returned true.
 *
 * @param options.signal when it aborts, the promise rejects; the rows may or may not be stored
 */
export async function repeatInsert(
  options: {
    kind: QueueName
    rows: number
    events: DeliveryEvents
    log: Logger
    signal: AbortSignal
    clock: Clock
    shouldGiveUp: (failure: ClickHouseError, failures: ConsecutiveFailures) => boolean
  },
  insert: () => Promise<void>,
): Promise<ClickHouseError | undefined> {
  const { kind, rows, events, log, signal, clock, shouldGiveUp } = options
  let failures: ConsecutiveFailures = { refusals: 0, splitFailures: 0 }
  for (let pauseMs = nextPauseMs(0); ; pauseMs = nextPauseMs(pauseMs)) {
    signal.throwIfAborted()
    events.insertBegan(kind)
    try {
      await insert()
      return undefined
    } catch (err) {
      signal.throwIfAborted()
      const failure = err instanceof ClickHouseError ? err.kind : 'retry'
      events.failed(kind, failure, describeError(err))
      failures = {
        refusals: failure === 'rejected' ? failures.refusals + 1 : 0,
        splitFailures: failure === 'split' ? failures.splitFailures + 1 : 0,
      }
      if (err instanceof ClickHouseError && shouldGiveUp(err, failures)) return err
      log.error(
        { err, kind, rows, help: helpOf(`insert_${failure}`) },
        'insert failed; it will be repeated',
      )
    }
    await pause(pauseMs * (0.5 + clock.random() / 2), { clock, signal })
  }
}
