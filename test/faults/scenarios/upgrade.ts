import type { AppProcess } from '@intake/test-kit/app-process'
import { until } from '@intake/test-kit/until'
import { backlogOf } from '../kit/observe.ts'
import type { Scenario, Stage } from '../scenario.ts'

/** The number of records per step, which the load sends in about a second. */
const some = 60

/** Scenarios that upgrade to this build and go back, under load, as in docs/upgrading.md. */
export function upgradeScenarios(builds: { old: string }): Scenario[] {
  return [
    {
      id: 'U1',
      title: 'upgrade under load: setup, workers, gateways',
      load: { rate: 60 },
      cluster: { root: builds.old },
      async run(stage) {
        const { cluster, root, acknowledged } = stage
        await acknowledged(some)
        await Promise.all([cluster.setUp({ acceptEmptyRedis: false, root }), acknowledged(some)])
        await acknowledged(some)
        await replaceWorker(stage, { root })
        await replaceGateway(stage, { root })
        expectNoneCutOff(stage)
      },
    },
    {
      id: 'U2',
      title: 'the way back under load: gateways, workers; new frames for old workers',
      load: { rate: 60 },
      async run(stage) {
        const { acknowledged } = stage
        await acknowledged(some)
        // First goes back to the old worker, so that it gets frames of the new gateway.
        await replaceWorker(stage, { root: builds.old })
        await replaceGateway(stage, { root: builds.old })
        expectNoneCutOff(stage)
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
