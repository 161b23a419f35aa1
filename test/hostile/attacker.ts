// The process of an attack: apart from the innocent sender, whose clock its work must not disturb.
import { setPriority } from 'node:os'
import { hostileCases } from './cases/index.ts'
import type { Order, Outcome } from './start-attack.ts'

// Whoever attacks has a machine of its own. Here it must not take the gateway's processor.
setPriority(5)

function tell(outcome: Outcome): void {
  process.send?.(outcome)
}

process.once('disconnect', () => process.exit(0))
process.once('message', (message: Order) => {
  const { caseId, attackMs, port, apiKey } = message
  const found = hostileCases.find(({ id }) => id === caseId)
  if (found === undefined) throw new Error(`no case ${caseId}`)
  const signal = AbortSignal.timeout(attackMs)
  found.attack({ port, apiKey, signal }).then(
    (facts) => tell({ facts }),
    (error: unknown) => tell({ failed: error instanceof Error ? String(error.stack) : 'unknown' }),
  )
})
