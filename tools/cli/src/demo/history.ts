import { hash } from 'node:crypto'
import { printUuid } from '@intake/contract'
import { demoApps, feedbackTexts, phones, versionOf, type DemoApp } from './apps.ts'

export interface DemoEvent {
  /** Milliseconds since 1970. */
  at: number
  event: string
  params: Record<string, unknown>
}

/** What one device sends while it has one release of an app. */
export interface DemoRun {
  app: DemoApp
  deviceUuid: string
  userId: string
  device: Record<string, unknown>
  events: DemoEvent[]
  feedback: { at: number; text: string; email: string | undefined }[]
}

const dayMs = 86_400_000
const eventsPerDevice = 40
const devicesMax = 400
/** Every so many devices, one sends a feedback. */
const devicesPerFeedback = 3

/** Invents so many events of so many days before `now`, in milliseconds since 1970. */
export function inventHistory(options: { events: number; days: number; now: number }): DemoRun[] {
  const { events, days, now } = options
  const dice = createDice()
  const from = now - days * dayMs
  const wanted = Math.min(devicesMax, events / eventsPerDevice)
  const devices = demoApps.flatMap((app) => {
    // Every app has two devices at least: one that gets the second release, and one that does not.
    const length = Math.max(2, Math.round(wanted * app.share))
    return Array.from({ length }, (_, number) => ({ app, number }))
  })
  return devices.flatMap(({ app, number }, index) => {
    const before = (device: number) => Math.floor((events * device) / devices.length)
    const count = before(index + 1) - before(index)
    const to = from + (now - from) * app.fallsSilentAt
    return inventDevice({ app, number, count, from, to, dice })
  })
}

/** Invents what one device sends, with the first release and then with the second. */
function inventDevice(options: {
  app: DemoApp
  number: number
  count: number
  from: number
  to: number
  dice: Dice
}): DemoRun[] {
  const { app, number, count, from, to, dice } = options
  const { random, pick } = dice
  const phone = pick(phones)
  const runs = app.releases.map((release): DemoRun => ({
    app,
    deviceUuid: printUuid(hash('sha256', `${app.bundle}/${number}`)),
    userId: `demo-user-${number + 1}`,
    device: { ...phone, ...versionOf(release), battery_level: 5 + Math.floor(random() * 95) },
    events: [],
    feedback: [],
  }))
  const [first, second] = runs as [DemoRun, DemoRun]
  // Every fifth device keeps the first release. The others change in the middle of the period.
  const updatedAt = number % 5 === 1 ? Infinity : from + (to - from) * (0.4 + random() * 0.3)
  if (number % devicesPerFeedback === 0) {
    const at = from + random() * (to - from)
    const email = random() < 0.5 ? `user${number}@example.com` : undefined
    const run = at < updatedAt ? first : second
    run.feedback.push({ at, text: pick(feedbackTexts), email })
  }
  for (let left = count; left > 0;) {
    const at = from + random() * (to - from)
    const isNew = at >= updatedAt
    const session = inventSession({ app, at, isNew, dice }).slice(0, left)
    const run = isNew ? second : first
    // The rest of a session that would be in the future has not happened yet.
    run.events.push(...session.map((event) => ({ ...event, at: Math.min(event.at, to) })))
    left -= session.length
  }
  for (const run of runs) run.events.sort((a, b) => a.at - b.at)
  return runs.filter((run) => run.events.length + run.feedback.length > 0)
}

/** Invents the events of one use of an app: what a person looks at and does, until the end or a crash. */
export function inventSession(options: {
  app: DemoApp
  at: number
  isNew: boolean
  dice: Dice
}): DemoEvent[] {
  const { app, isNew } = options
  const { random, pick } = options.dice
  let { at } = options
  const events: DemoEvent[] = []
  const add = (event: string, params: DemoEvent['params']) => {
    events.push({ at: Math.round(at), event, params })
    at += 1_000 + random() * 40_000
  }
  const actions = Object.entries({ ...app.actions, ...(isNew && app.newActions) })
  const { crash, crashes } = app.releases[isNew ? 1 : 0]
  add('app_open', { cold: random() < 0.6 })
  const steps = 3 + Math.floor(random() * 7)
  for (let step = 0; step < steps; step++) {
    add('screen_view', { screen: pick(app.screens), ms: 80 + Math.floor(random() * 900) })
    if (random() < 0.5) {
      const [event, choices] = pick(actions)
      const params = Object.entries(choices).map(([name, values]) => [name, pick(values)])
      add(event, Object.fromEntries(params))
    }
  }
  if (random() < crashes) {
    const [reason, ...frames] = crash.split('\n')
    add('crash', { reason, stack: frames.join('\n') })
  }
  return events
}

/** What chance decides. */
export type Dice = ReturnType<typeof createDice>

/** Returns dice that always fall the same way (mulberry32), so that what is planted is there. */
export function createDice() {
  let state = 1
  /** Returns a number from 0 to 1. */
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { random, pick: <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]! }
}
