import { limits } from '@intake/contract'
import { pause, systemClock, type Clock } from '@intake/runtime'

/**
 * The time in which every gateway has read the policy. Gateways read it every two seconds, but
 * Redis may respond slowly.
 */
const untilReadMs = 15_000

/**
 * Waits so long that all gateways know a change of the policy, and Redis has every record that they
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
