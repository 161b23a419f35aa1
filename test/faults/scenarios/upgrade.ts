import type { AppProcess } from '@intake/test-kit/app-process'
import { until } from '@intake/test-kit/until'
import { announcedAgain, visibleFeedback } from '../kit/check-webhook.ts'
import { drained } from '../kit/checker.ts'
import { hasConsole } from '../kit/cluster.ts'
import { backlogOf } from '../kit/observe.ts'
import type { Scenario, Stage } from '../scenario.ts'

/** The number of records per step, which the load sends in about a second. */
const some = 60
const load = { rate: 60, feedbackEvery: 10 }
/** The number of requests of the webhook that a process which ends leaves to be sent again. */
const requestsAtOnce = 4

/** Scenarios that upgrade to this build and go back, under load, as in docs/upgrading.md. */
export function upgradeScenarios(builds: { old: string }): Scenario[] {
  const { old } = builds
  const ofOld = { root: old, consoles: hasConsole(old) ? 1 : 0 }
  return [
    {
      id: 'U1',
      title: 'upgrade under load: setup, consoles, workers, gateways',
      load,
      cluster: ofOld,
      async run(stage) {
        const { cluster, root, acknowledged } = stage
        await acknowledged(some)
        await Promise.all([cluster.setUp({ acceptEmptyRedis: false, root }), acknowledged(some)])
        await acknowledged(some)
        await cluster.addConsole({ root })
        await acknowledged(some)
        if (hasConsole(old)) await end(stage, cluster.consoles[0]!)
        await replaceWorker(stage, { root })
        await replaceGateway(stage, { root })
        expectNoneCutOff(stage)
        await untilAnnouncedAndCounted(stage)
      },
    },
    {
      id: 'U2',
      title: 'the way back under load: gateways, workers, consoles; new frames for old workers',
      load,
      cluster: { consoles: 1 },
      async run(stage) {
        const { cluster, acknowledged } = stage
        await acknowledged(some)
        // First goes back to the old worker, so that it gets frames of the new gateway.
        await replaceWorker(stage, { root: old })
        await replaceGateway(stage, { root: old })
        if (hasConsole(old)) await cluster.addConsole({ root: old })
        await end(stage, cluster.consoles[0]!)
        await acknowledged(some)
        expectNoneCutOff(stage)
        await untilAnnouncedAndCounted(stage)
      },
    },
    {
      id: 'U3',
      title: 'workers replaced before a console of this build runs: feedback is announced later',
      load,
      cluster: ofOld,
      async run(stage) {
        const { cluster, root, acknowledged } = stage
        await acknowledged(some)
        await cluster.setUp({ acceptEmptyRedis: false, root })
        await cluster.addWorker({ root })
        await acknowledged(some)
        for (const one of [cluster.workers[0]!, ...cluster.consoles]) await end(stage, one)
        await acknowledged(some)
        await cluster.addConsole({ root })
        await untilAnnouncedAndCounted(stage)
      },
    },
  ]
}

/**
 * Ends the worker while records arrive, so that frames wait. Then starts a worker of the build in
 * `root`, which must store these frames.
 */
async function replaceWorker(stage: Stage, { root }: { root: string }): Promise<void> {
  const { cluster, acknowledged } = stage
  const [worker] = cluster.workers
  await end(stage, worker!)
  await acknowledged(some)
  const { waiting } = await backlogOf(cluster.keys)
  stage.expect(waiting > 0, 'frames wait for the other build')
  await cluster.addWorker({ root })
  // The new worker must reduce the backlog while records continue to arrive.
  await until('the backlog is short', async () => (await backlogOf(cluster.keys)).waiting < waiting)
  await acknowledged(some)
}

/**
 * Replaces a gateway: the old and the new one serve together for a while; then the old one is
 * removed from the load balancer and ends.
 */
async function replaceGateway(stage: Stage, { root }: { root: string }): Promise<void> {
  const { cluster, acknowledged } = stage
  await cluster.addGateway({ root })
  await acknowledged(some)
  cluster.inRotation.delete(cluster.gatewayUrls[0]!)
  await acknowledged(some)
  await end(stage, cluster.gateways[0]!)
  await acknowledged(some)
}

/**
 * Waits until the webhook has been called for all feedback, and until records were counted after
 * the last one was stored.
 */
async function untilAnnouncedAndCounted({ cluster, producer, expect }: Stage): Promise<void> {
  const { sql, webhook, gateways, workers, consoles } = cluster
  await producer.stop()
  await drained(cluster)
  const ids = await visibleFeedback(cluster)
  const announced = () => ids.filter((id) => webhook!.accepted.has(id)).length
  await until('all feedback is announced', () => announced() === ids.length, {
    progress: announced,
  })
  const ended = [...gateways, ...workers, ...consoles].filter((one) => !one.running()).length
  const again = announcedAgain(cluster)
  expect(again <= ended * requestsAtOnce, `at most those in progress are sent again (${again})`)

  const since = new Date().toISOString()
  await until('records are counted', async () => {
    const found = await sql.query(
      `SELECT 1 FROM intake.counted WHERE name = 'hours'
       AND counted_at > parseDateTime64BestEffort({since:String}, 3, 'UTC')`,
      { since },
    )
    return found.length > 0
  })
  const [counts] = await sql.query<{ counted: number; visible: number }>(
    `SELECT (SELECT sum(events) FROM intake.hours) AS counted,
            (SELECT count() FROM intake.logs) AS visible`,
  )
  expect(
    counts!.counted === counts!.visible,
    `every log is counted once (${JSON.stringify(counts)})`,
  )
}

async function end(stage: Stage, app: AppProcess): Promise<void> {
  stage.expect((await app.terminate()) === 0, `${app.name} ends with code 0`)
}

/**
 * Expects that no connection was refused or cut off. A busy service may refuse a request with 503,
 * but a process that is replaced in the documented way cuts off no request.
 */
function expectNoneCutOff({ history, expect }: Stage): void {
  const cut = history.events.filter(
    (event) =>
      (event.is === 'refused' && event.status === 0) ||
      (event.is === 'unknown' && event.why !== 'outcome_unknown'),
  )
  expect(
    cut.length === 0,
    `no connection is refused or cut off: ${JSON.stringify(cut.slice(0, 3))}`,
  )
}
