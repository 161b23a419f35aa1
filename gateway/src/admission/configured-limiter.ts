import type { GatewayConfig } from '@intake/config'
import type { Clock } from '@intake/runtime'
import { createDeviceLimits } from './device-limits.ts'
import type { FleetCounters } from './fleet-counters.ts'
import { createKeyLimiter, type KeyLimiter } from './key-limits.ts'

/**
 * Creates the limiter of API keys in a gateway. The limits in `config` apply to keys that have no
 * limits of their own.
 */
export function createConfiguredLimiter(options: {
  config: GatewayConfig
  counters: Pick<FleetCounters, 'open'>
  clock: Pick<Clock, 'now'>
  wallMs: () => number
}): KeyLimiter {
  const { config, counters, clock, wallMs } = options
  return createKeyLimiter({
    counters,
    devices: createDeviceLimits({ feedbackMax: config.DEVICE_FEEDBACK_PER_MINUTE_MAX, clock }),
    defaults: {
      requestsPerMinute: config.RATE_LIMIT_MAX,
      eventsPerMinute: config.EVENTS_PER_MINUTE_MAX,
      logBytesPerMinute: config.LOG_BYTES_PER_MINUTE_MAX,
      feedbackPerMinute: config.FEEDBACK_PER_MINUTE_MAX,
      attachmentBytesPerMinute: config.ATTACHMENT_BYTES_PER_MINUTE_MAX,
      deviceEventsPerMinute: config.DEVICE_EVENTS_PER_MINUTE_MAX,
      eventsPerDay: Infinity,
      bytesPerDay: Infinity,
    },
    wallMs,
  })
}
