import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '@intake/clickhouse'
import { createIntake, createNodeClient } from '@intake/client/node'
import { quantity } from '@intake/runtime'
import { UsageError } from '../endpoints.ts'
import { demoApps, phones, versionOf } from './apps.ts'
import { createDice, inventSession, type DemoRun } from './history.ts'
import { drawScreenshot } from './picture.ts'

export interface Target {
  url: string
  apiKey: string
  /** Aborts when nothing more is to be sent. */
  signal: AbortSignal
}

/** After this time gateways know a change of a key. */
export const knownMs = 5_000
const requestMs = 5_000
const devicesAtOnce = 6
const deliveryMs = 60_000

/** A client stops sending when its key is refused, so this waits until gateways know it. */
export async function untilKeyIsKnown({ url }: Pick<Target, 'url'>): Promise<void> {
  const address = `${url.replace(/\/+$/, '')}/openapi.json`
  const signal = AbortSignal.timeout(requestMs)
  const { status } = await fetch(address, { signal }).catch((error: unknown) => {
    throw new UsageError(`The gateway at ${url} does not respond: ${describeError(error)}`)
  })
  if (status !== 200) throw new UsageError(`${url} is no gateway: it responds with ${status}.`)
  await sleep(knownMs)
}

/** @throws {UsageError} if records of a device did not arrive */
export async function sendHistory(
  runs: readonly DemoRun[],
  target: Target,
): Promise<{ events: number; feedback: number }> {
  const sent = { events: 0, feedback: 0 }
  const waiting = runs.values()
  const sendNext = async () => {
    for (const run of waiting) {
      if (target.signal.aborted) return
      await sendRun(run, target)
      sent.events += run.events.length
      sent.feedback += run.feedback.length
    }
  }
  await Promise.all(Array.from({ length: devicesAtOnce }, sendNext))
  return sent
}

/** A device is a client with a clock that runs through its history, as after days offline. */
async function sendRun(run: DemoRun, { url, apiKey }: Target): Promise<void> {
  const { app, deviceUuid, userId, device } = run
  let past: number | undefined
  const now = () => past ?? Date.now()
  const client = createNodeClient(
    { url, apiKey, bundleIdentifier: app.bundle, deviceUuid, userId, device },
    {
      storage: 'memory',
      time: {
        now,
        // Runs as the clock does: the device was offline, and nobody has set its clock.
        monotonic: now,
        setTimeout: (work, ms) => setTimeout(work, ms),
        clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
      },
    },
  )
  for (const { at, event, params } of run.events) {
    past = at
    client.log(event, params)
  }
  const kept = run.feedback.map(({ at, text, email }) => {
    past = at
    const data = drawScreenshot(app.colour, Math.floor(at))
    const attachments = [{ data, name: 'screenshot.png', type: 'image/png' }]
    return client.feedback({ text, email, attachments })
  })
  past = undefined
  await Promise.all(kept)
  const { left } = await client.shutdown({ timeoutMs: deliveryMs })
  const { dropped, lastError } = client.stats()
  const lost = Object.values(dropped).reduce((sum, count) => sum + count, left)
  const [reason = lastError?.code ?? 'no_response'] = Object.keys(dropped)
  if (lost > 0)
    throw new UsageError(`${quantity(lost, 'record')} of a device did not arrive (${reason}).`)
}

/** Sends so many events a second until the signal is aborted. Resolves to their number. */
export async function sendLive(options: Target & { rate: number }): Promise<number> {
  const { url, apiKey, rate, signal } = options
  const dice = createDice()
  const devices = demoApps
    .filter(({ fallsSilentAt }) => fallsSilentAt === 1)
    .map((app) => {
      const device = { ...phones[0], ...versionOf(app.releases[1]) }
      const sender = { bundleIdentifier: app.bundle, userId: 'demo-live', device }
      const sending = { storage: 'memory', flushIntervalMs: 1_000 } as const
      return { app, client: createIntake({ url, apiKey, ...sender, ...sending }) }
    })
  let sent = 0
  while (!signal.aborted) {
    const { app, client } = dice.pick(devices)
    for (const { event, params } of inventSession({ app, at: 0, isNew: true, dice })) {
      if (signal.aborted) break
      client.log(event, params)
      sent++
      await sleep(1_000 / rate, undefined, { signal }).catch(() => undefined)
    }
  }
  await Promise.all(devices.map(({ client }) => client.shutdown()))
  return sent
}
