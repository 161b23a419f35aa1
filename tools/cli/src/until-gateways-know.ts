import { limits } from '@intake/contract'
import { pause } from '@intake/runtime'

/** Gateways read the policy every two seconds, but Redis may respond slowly. */
const untilReadMs = 15_000

/** Gateways do not report what they know, so this waits as long as a change and a request take. */
export async function untilGatewaysKnow(progress: (sentence: string) => void): Promise<void> {
  const ms = untilReadMs + Math.max(...Object.values(limits.acceptanceMs))
  progress(
    `waiting ${ms / 1_000} s until gateways know the change and have enqueued what they accepted before`,
  )
  await pause(ms)
}
