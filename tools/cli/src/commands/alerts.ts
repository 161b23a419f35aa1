import {
  alertsMax,
  createAlertStore,
  describeAlert,
  describeFound,
  type Alert,
  type AlertChoice,
} from '@intake/access'
import type { Redis } from '@intake/redis'
import { dayMs, minuteMs } from '@intake/contract'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { UsageError } from '../endpoints.ts'
import { operator } from '../journal.ts'
import { decimal, numberOption, periodOption, wholeBundle } from '../option-values.ts'
import { note, print, printJson, printRow } from '../print.ts'
import { changeRedis, withRedis } from '../with-redis.ts'

type Limit = Pick<AlertChoice, 'condition' | 'threshold' | 'unit'>

interface AddOptions {
  bundle: string
  event?: string
  versionName?: string
  above?: Limit
  below?: Limit
  times?: Limit
  newCrash?: true
  /** Milliseconds. */
  in: number
}

export function define(alerts: Command): void {
  alerts
    .command('add')
    .description('tell the receiver of an application when an event is frequent, or absent')
    .requiredOption('--bundle <identifier>', 'bundle identifier of the application', wholeBundle)
    .option('--event <name>', 'name of the event')
    .option('--version-name <text>', 'only events of this device.version_name')
    .addOption(limitOption('above', 'fire above this number of events, or percent of devices'))
    .addOption(limitOption('below', 'fire below this number, or percent'))
    .addOption(limitOption('times', 'fire above so many times the usual number of events'))
    .option('--new-crash', 'fire when a crash has a new stack trace')
    .addOption(windowOption)
    .action(async (options: AddOptions) => {
      const choice = readChoice(options)
      const alert = await changeRedis((redis) =>
        createAlertStore({ redis, who: operator() }).add(choice),
      )
      if (alert === undefined)
        throw new UsageError(`There are ${alertsMax} alerts; remove one first.`)
      printRow([`Added ${alert.id}: ${describeAlert(alert)}`])
      print('Consoles evaluate it within a minute.')
    })

  alerts
    .command('list')
    .description('list the alerts, oldest first')
    .option('--json', 'print them as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const list = await withRedis((redis) => createAlertStore({ redis }).list())
      if (json) return printJson(list)
      if (list.length === 0) note('There are no alerts.')
      for (const alert of list) {
        const { id, createdAt, createdBy } = alert
        printRow([id, describeAlert(alert), `added ${createdAt}`, `by ${createdBy}`])
      }
    })

  alerts
    .command('show <id>')
    .description('show an alert and its state')
    .option('--json', 'print them as JSON')
    .action(async (id: string, { json }: { json?: boolean }) => {
      const alert = await withRedis((redis) => requireAlert(redis, id))
      const state = await readState(id)
      if (json) return printJson({ ...alert, state: state ?? null })
      printRow([alert.id, describeAlert(alert)])
      if (state === undefined) return print('It was not evaluated yet.')
      printRow([`${state.state} since ${state.since}`, describeFound(alert, state)])
    })

  alerts
    .command('remove <id>')
    .description('remove the alert with this id')
    .action(async (id: string) => {
      const wasRemoved = await changeRedis((redis) =>
        createAlertStore({ redis, who: operator() }).remove(id),
      )
      if (!wasRemoved) throw new UsageError(`There is no alert ${id}.`)
      print(`Removed ${id}.`)
    })

  alerts
    .command('test <id>')
    .description('send a test message to the receiver of the application')
    .action(async (id: string) => {
      await withRedis((redis) => sendTest(redis, id))
      print('Consoles with a receiver send it now. If it does not arrive, their log says why.')
    })
}

function readChoice(options: AddOptions): AlertChoice {
  const { bundle, event = '', versionName = '', above, below, times, newCrash } = options
  const newCrashes = newCrash && ({ condition: 'new-crash', threshold: 0, unit: 'events' } as const)
  const [chosen, ...others] = [above, below, times, newCrashes].filter((one) => one !== undefined)
  if (chosen === undefined || others.length > 0) {
    throw new UsageError('Give one of --above, --below, --times and --new-crash.')
  }
  if (newCrash ? event !== '' || versionName !== '' : event === '') {
    throw new UsageError('Give --event, or --new-crash without --event and --version-name.')
  }
  if (options.in > dayMs) throw new UsageError('The window is at most 24h.')
  return { bundle, event, versionName, ...chosen, minutes: options.in / minuteMs }
}

async function requireAlert(redis: Redis, id: string): Promise<Alert> {
  const alerts = await createAlertStore({ redis }).list()
  const alert = alerts.find((one) => one.id === id)
  if (alert === undefined) throw new UsageError(`There is no alert ${id}.`)
  return alert
}

/** Resolves to undefined if the alert was not evaluated yet. */
async function readState(id: string) {
  const { withClickHouse } = await import('../clickhouse.ts')
  const [state] = await withClickHouse((clickhouse) =>
    clickhouse.query<{ state: string; since: string } & Record<'value' | 'usual', number | null>>(
      `SELECT state, formatDateTime(since, '%FT%TZ', 'UTC') AS since, value, usual
       FROM intake.alert_states WHERE id = {id:String}`,
      { id },
    ),
  )
  return state
}

async function sendTest(redis: Redis, alertId: string): Promise<void> {
  await requireAlert(redis, alertId)
  const { alertSender, alertWebhook, createDeliverySink, testDeliveryId } =
    await import('@intake/queue/consume')
  // One attempt only.
  const queue = { ...alertWebhook, retryDelaysMs: [] }
  const sink = createDeliverySink({ redis, queue, onError: () => undefined })
  await sink.add([{ id: testDeliveryId(alertId), sender: alertSender }])
}

const parseNumber = numberOption({ min: 0, pattern: decimal, message: 'Give a number.' })
const limitOption = (condition: 'above' | 'below' | 'times', help: string) =>
  new Option(`--${condition} <number>`, help).argParser((given: string): Limit => {
    const isShare = condition !== 'times' && given.endsWith('%')
    const threshold = parseNumber(isShare ? given.slice(0, -1) : given)
    if (condition === 'below' && threshold === 0) {
      throw new InvalidArgumentError('Nothing is below 0; silence is --below 1.')
    }
    return { condition, threshold, unit: isShare ? 'percent' : 'events' }
  })
const windowOption = new Option('--in <window>', 'length of the window, such as 10m or 1h')
  .argParser(periodOption('mh', 'Give minutes or hours, such as 10m or 1h.'))
  .default(60 * minuteMs, '1h')
