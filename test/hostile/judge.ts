import type { HostileCase } from './hostile-case.ts'
import { codes } from './report.ts'
import type { Seen } from './result.ts'

const memoryMiBMax = 900
const exitMsMax = 10_500
const sentMin = 4

/**
 * Checks the conditions that apply to every case, and those of this case. Returns the conditions
 * that do not hold.
 */
export function judge(
  hostile: HostileCase,
  seen: Seen,
  options: { slowestMsMax: number; attackMs?: number },
): string[] {
  const reasons: string[] = []
  const expect = (holds: boolean, sentence: string) => void (holds || reasons.push(sentence))
  const { before, during, facts, attack } = seen
  const { slowestMsMax } = options
  const memoryMax = hostile.memoryMiBMax ?? memoryMiBMax

  const quiet = before.slowestMs <= slowestMsMax && Object.keys(before.refusals).length === 0
  expect(
    quiet,
    `before the attack the sender is fast and not refused (${before.slowestMs} ms, refused ${codes(before)})`,
  )
  expect(!seen.died, 'the gateway survives')
  expect(during.responses > 0, 'the innocent sender gets responses')
  expect(
    during.slowestMs <= slowestMsMax,
    `no response takes more than ${slowestMsMax} ms (${during.slowestMs})`,
  )
  expect(
    Object.keys(during.refusals).length === 0,
    `the innocent sender is not refused (${codes(during)})`,
  )
  expect(seen.peakMiB <= memoryMax, `the gateway has at most ${memoryMax} MiB (${seen.peakMiB})`)
  if (hostile.connectionsEndMs !== undefined && options.attackMs === undefined) {
    const limit = `${hostile.connectionsEndMs / 1_000} s`
    expect(seen.connectionsEndMs !== null, `its connections are closed within ${limit}`)
  }
  if (hostile.visibleMsMax !== undefined && seen.visibleMs !== undefined) {
    const { visibleMsMax } = hostile
    expect(
      seen.visibleMs <= visibleMsMax,
      `an event is visible within ${visibleMsMax} ms (${seen.visibleMs})`,
    )
  }
  if (!seen.died) {
    const { exitCode, exitMs } = seen
    const ended = exitCode === 0 && exitMs <= exitMsMax
    expect(ended, `on SIGTERM it exits in time with 0 (${exitCode} after ${exitMs} ms)`)
    expect('facts' in attack, `the attack ran (${'failed' in attack ? attack.failed : ''})`)
  }
  // If the gateway has died, the facts of the attack are incomplete.
  if (facts !== undefined && !seen.died) {
    const wanted = hostile.sentMin ?? sentMin
    expect(facts.sent >= wanted, `there was an attack (${facts.sent} sent, not ${wanted})`)
    hostile.judge?.(facts, expect)
  }
  return [...reasons, ...seen.violations]
}
