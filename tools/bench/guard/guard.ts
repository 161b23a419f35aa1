import { join } from 'node:path'
import { shuffle } from '@intake/test-kit/random'
import { startGenerator } from '../load/generator.ts'
import { withOwner } from '../owner.ts'
import { openBuild, startTarget, type Build, type Target } from './build.ts'
import {
  buildNames,
  createMeasurements,
  type Both,
  type BuildName,
  type Costs,
  type Measurements,
  type Part,
} from './measurements.ts'
import type { GuardOptions } from './options.ts'
import {
  passAllBatches,
  passAllLogs,
  passBatches,
  passForms,
  passIdle,
  passLogs,
  settle,
  warmUpHalf,
  workerCost,
  type IdleCosts,
  type Sent,
  type Tools,
} from './passes.ts'
import { medianCpu } from './thread-account.ts'
import { describePair, report, type Report } from './report.ts'

/** Compares the CPU use of this tree with that of a base, which is an earlier build. */
export async function guard(
  options: GuardOptions & { base: string; roots: Both<string> },
): Promise<Report> {
  if (process.platform !== 'linux') throw new Error('The guard reads /proc: it needs Linux.')
  const measurements = await withOwner(async (owner, dataDir) => {
    const tools: Tools = {
      owner,
      generator: startGenerator(owner),
      say: (sentence) => console.error(sentence),
    }
    const builds = await forBoth((name) =>
      openBuild({ root: options.roots[name], dataDir: join(dataDir, name), owner }),
    )
    return measureProcesses(tools, builds, options)
  })
  return report(measurements, options)
}

/**
 * Measures several pairs of new processes, because even processes of the same build differ by
 * several percent.
 */
async function measureProcesses(
  tools: Tools,
  builds: Both<Build>,
  options: GuardOptions,
): Promise<Measurements> {
  const measurements = createMeasurements(options.only)
  for (let process = 0; process < options.processes; process++) {
    tools.say(`bench:guard: processes ${process + 1} of ${options.processes}`)
    const targets = await forBoth((name) => startTarget(name, builds[name]))
    await measurePair(tools, targets, options, (costs) => {
      measurements.add(process, costs)
      tools.say(describePair(measurements.figures, costs))
    })
    await forBoth((name) => targets[name].stop())
  }
  return measurements
}

/** Warms up a gateway and a worker of each build. Then measures passes of both builds in turn. */
async function measurePair(
  tools: Tools,
  targets: Both<Target>,
  { only, passes }: GuardOptions,
  note: (costs: Both<Costs>) => void,
): Promise<void> {
  const wants = (...parts: Part[]) => parts.some((part) => only.includes(part))
  // Warms up in two halves, each with every kind of load. V8 can drop compiled code during another
  // kind of load, or after half a minute without load. The second half compiles such code again.
  for (let half = 0; half < 2; half++) {
    await inTurn((name) =>
      warmUpHalf(tools, targets[name], {
        withBatches: wants('batch', 'worker', 'all'),
        withForms: wants('form'),
      }),
    )
  }
  const sent: Both<Sent>[] = []
  for (let pass = 0; pass < passes; pass++) {
    if (wants('gateway')) note(await inTurn((name) => passLogs(tools, targets[name])))
    if (wants('form')) note(await inTurn((name) => passForms(tools, targets[name])))
    if (wants('all')) {
      note(await inTurn((name) => passAllLogs(tools, targets[name])))
      note(await inTurn((name) => passAllBatches(tools, targets[name])))
    }
    if (!wants('batch', 'worker')) continue
    const costs = await inTurn((name) => passBatches(tools, targets[name]))
    if (wants('batch')) note(costs)
    sent.push({ base: costs.base.sent, tree: costs.tree.sent })
  }
  if (!wants('idle', 'worker')) return
  await settle()
  const idle: Both<IdleCosts>[] = []
  for (let pass = 0; pass < passes; pass++) idle.push(await passIdle(targets))
  if (wants('idle')) idle.forEach(note)
  if (!wants('worker')) return
  const idleWorker = (name: BuildName) => medianCpu(idle.map((costs) => costs[name].idleWorker))
  for (const { base, tree } of sent) {
    note({
      base: workerCost(base, idleWorker('base')),
      tree: workerCost(tree, idleWorker('tree')),
    })
  }
}

/** Runs `work` for one build after the other, in random order. */
async function inTurn<T>(work: (name: BuildName) => Promise<T>): Promise<Both<T>> {
  const results: Partial<Both<T>> = {}
  for (const name of shuffle(buildNames, Math.random)) results[name] = await work(name)
  return results as Both<T>
}

async function forBoth<T>(work: (name: BuildName) => Promise<T>): Promise<Both<T>> {
  const [base, tree] = await Promise.all([work('base'), work('tree')])
  return { base, tree }
}
