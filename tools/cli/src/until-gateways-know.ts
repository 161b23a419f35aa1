import { limits } from '@intake/contract'
import { pause, systemClock, type Clock } from '@intake/runtime'

/**
 * The time after which every gateway has read a change of the policy. Gateways read the policy
 * every two seconds, but Redis may respond slowly.
 */
const untilReadMs = 15_000

/**
 * Waits until all gateways know a change of the policy, and until Redis has every record that they
 * accepted before they knew it. The wait has a fixed length, because gateways do not report when
 * they know a change.
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
