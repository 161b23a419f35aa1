import { createSandbox, type Sandbox } from '@intake/sandbox'
import { capabilities, connectAdapter, type Adapter, type Capability } from './adapter.ts'
import { cases as allCases } from './cases/index.ts'
import type { ConformanceCase } from './conformance-case.ts'
import { findViolation } from './invariants.ts'
import { createTrial, Failed, type Trial } from './trial.ts'
import { createWitness, describeAttempts, type Witness } from './witness.ts'

export interface CaseResult {
  title: string
  outcome: 'passed' | 'failed' | 'not applicable'
  /**
   * What the suite saw in a failed case, or what the sender lacks; undefined if the case passed.
   */
  seen: string | undefined
  requests: string[]
  ms: number
}

export interface ConformanceResult {
  sender: string
  capabilities: Capability[]
  results: CaseResult[]
}

const callMs = 60_000
/** The timeout of each wait for a condition. A wait ends as soon as its condition holds. */
const defaultWaitMs = 30_000

/**
 * Judges a sender by every case, one after the other.
 *
 * @param options.adapter the URL of the sender's adapter
 * @param options.only runs only the cases whose titles contain this text
 * @param options.waitMs how long a case waits for a condition; by default half a minute
 * @param options.onResult called after each case
 * @throws {AdapterError} if the adapter cannot be reached or refuses the first call
 */
export async function runConformance(options: {
  adapter: string
  only?: string
  waitMs?: number
  onResult?: (result: CaseResult) => void
}): Promise<ConformanceResult> {
  const { only, waitMs = defaultWaitMs, onResult } = options
  const sender = connectAdapter({ url: options.adapter, timeoutMs: callMs })
  const described = await sender.describe()
  const known = Object.keys(capabilities) as Capability[]
  const has = known.filter((capability) => described.capabilities.includes(capability))
  const witness = createWitness()
  const sandbox = await createSandbox({ onRequest: witness.see })
  const results: CaseResult[] = []
  try {
    for (const one of allCases) {
      if (only !== undefined && !one.title.includes(only)) continue
      const result = await judge(one, { sender, has, sandbox, witness, waitMs })
      results.push(result)
      onResult?.(result)
    }
  } finally {
    await sandbox.close()
  }
  return { sender: described.name, capabilities: has, results }
}

interface Judging {
  sender: Adapter
  has: readonly Capability[]
  sandbox: Sandbox
  witness: Witness
  waitMs: number
}

async function judge(one: ConformanceCase, judging: Judging): Promise<CaseResult> {
  const { title, needs = [] } = one
  const { sender, has, sandbox, witness, waitMs } = judging
  const lacks = needs.filter((need) => !has.includes(need))
  if (lacks.length > 0) {
    const seen = `the sender has no ${lacks.join(', ')}`
    return { title, outcome: 'not applicable', seen, requests: [], ms: 0 }
  }
  const begun = performance.now()
  const end = (outcome: CaseResult['outcome'], seen?: string): CaseResult => ({
    title,
    outcome,
    seen,
    requests: outcome === 'failed' ? describeAttempts(witness.attempts()) : [],
    ms: Math.round(performance.now() - begun),
  })
  try {
    await sender.clear()
    sandbox.clear()
    witness.forget()
    const trial = createTrial({ sender, sandbox, witness, waitMs })
    await one.run(trial)
    const violation = findViolation({ ...sawIn(trial), apiKey: sandbox.apiKey })
    const result = violation === undefined ? end('passed') : end('failed', violation)
    await sender.clear()
    return result
  } catch (error) {
    const seen = error instanceof Failed ? error.message : String(error)
    return end('failed', `${seen}${await stateOf(sender)}`)
  }
}

const sawIn = (trial: Trial) => ({
  attempts: trial.attempts(),
  records: trial.records(),
  mayHaveLargeBodies: trial.mayHaveLargeBodies,
})

/**
 * Returns the sender's own state, which helps to find the cause of a failure. Returns an empty
 * string if the state cannot be read.
 */
async function stateOf(sender: Adapter): Promise<string> {
  try {
    return `; its state: ${JSON.stringify(await sender.state())}`
  } catch {
    // The sender may have been killed, or may be too broken to return its state.
    return ''
  }
}
