import { stepsOf } from '../period.ts'
import { readArrivals, readKeyOutcomes } from '../read-outcomes.ts'
import { readRaisedAlerts } from '../findings.ts'
import { statusView, type StatusData } from '../views/status.ts'
import type { ViewContext } from './context.ts'
import { awayTimeoutMs, isAway, unlessClickHouseFails } from '../without-clickhouse.ts'

/** `GET /status`, for a browser; other clients get JSON from the admin server. */
export function statusRoutes({ reader, state, cachedBriefly, view }: ViewContext) {
  async function read(nowMs: number): Promise<StatusData> {
    const minuteSteps = stepsOf('1h', nowMs)
    const daySteps = stepsOf('24h', nowMs)
    const [minutes, keys, names, alerts] = await Promise.all([
      readArrivals(reader, minuteSteps),
      readKeyOutcomes(reader, daySteps, { onlyRefused: false }),
      state.keyNames(),
      readRaisedAlerts(reader),
    ])
    return { minutes, minuteSteps, keys, daySteps, names, alerts }
  }

  view(
    '/status',
    async ({ header, reply }) => {
      reply.header('vary', 'accept')
      const reading = cachedBriefly('status', () => read(header.nowMs))
      const [data, processes] = await Promise.all([
        unlessClickHouseFails(reading, isAway(header) ? awayTimeoutMs : undefined),
        cachedBriefly('processes', () => state.processes()),
      ])
      return statusView({ header, data, processes })
    },
    // It shows the reason of an outage, while other views may wait for ClickHouse.
    { constraints: { wants: 'html' }, isUrgent: true },
  )
}
