// Runs an attack, in a separate process so that it does not distort the innocent sender's
// measurements.
import { setMaxListeners } from 'node:events'
import { constants, getPriority, setPriority } from 'node:os'
import { hostileCases } from './cases/index.ts'
import type { Facts } from './hostile-case.ts'
import type { Order, AttackResult } from './attack-process.ts'

// Runs at a lower priority than the gateway. The new priority is relative to the inherited one,
// because the whole run may already have a reduced priority.
setPriority(Math.min(getPriority() + 5, constants.priority.PRIORITY_LOW))

function tell(outcome: AttackResult): void {
  process.send?.(outcome)
}

process.once('disconnect', () => process.exit(0))
process.once('message', (order: Order) => {
  attack(order).then(
    (facts) => tell({ facts }),
    (error: unknown) => tell({ failed: error instanceof Error ? String(error.stack) : 'unknown' }),
  )
})

async function attack({ caseId, attackMs, port, apiKey }: Order): Promise<Facts> {
  const found = hostileCases.find(({ id }) => id === caseId)
  if (found === undefined) throw new Error(`no case ${caseId}`)
  const signal = AbortSignal.timeout(attackMs)
  setMaxListeners(0, signal)
  return found.attack({ port, apiKey, signal })
}
