import { queueNames } from '@intake/queue'
import type { createQueueUi } from '@intake/queue-ui'
import type { Redis } from '@intake/redis'
import type { WorkerConfig } from '@intake/config'
import { webhookQueue } from '../webhook/feedback-webhook.ts'

/** The user interface of the queues for the admin server. Undefined: it is off, and not even loaded. */
export async function openQueueUi(options: {
  config: WorkerConfig
  redis: Redis
  onError: (error: Error) => void
}): Promise<ReturnType<typeof createQueueUi> | undefined> {
  const { config, redis, onError } = options
  const { QUEUE_UI_PASSWORD: password, FEEDBACK_WEBHOOK_URL: webhook } = config
  if (password === undefined) return undefined
  const queues = [...Object.values(queueNames), ...(webhook === undefined ? [] : [webhookQueue])]
  const ui = await import('@intake/queue-ui')
  return ui.createQueueUi({ password, redis, queues, onError })
}
