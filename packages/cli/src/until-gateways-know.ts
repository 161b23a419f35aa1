import { limits } from '@intake/contract'
import { pause, systemClock, type Clock } from '@intake/runtime'

/**
 * Timeout for gateways to read the policy, which they do every two seconds. Redis may respond
 * slowly.
 */
const untilReadMs = 15_000

/**
 * Resolves when all gateways know a change of the policy, and Redis has every record that they
 * accepted before they knew it.
 */
export async function untilGatewaysKnow(
  progress: (sentence: string) => void,
  clock: Clock = systemClock,
): Promise<void> {
  const ms = untilReadMs + Math.max(...Object.values(limits.acceptanceMs))
  progress(
    `waiting ${ms / 1_000} s until gateways know the change and have enqueued what they accepted before`,
  )
  await pause(ms, { clock })
}
