import { Queue } from 'bullmq'
import { queuePrefix } from '@intake/queue'
import { feedbackWebhook } from '@intake/queue/consume'
import { until } from '@intake/test-kit/until'
import type { Cluster } from './cluster.ts'
import type { Violations } from './violations.ts'

/**
 * Checks that the webhook has been called for all visible feedback, and for nothing else. Requests
 * that wait for their next attempt, which takes up to a day, are sent at once.
 */
export async function checkWebhook(cluster: Cluster, violations: Violations): Promise<void> {
  const { keys, webhook } = cluster
  if (webhook === undefined) return
  const visible = await visibleFeedback(cluster)
  const missing = () => visible.filter((id) => !webhook.accepted.has(id))
  const requests = new Queue(feedbackWebhook.name, {
    connection: keys,
    prefix: queuePrefix,
    skipMetasUpdate: true,
  })
  try {
    await until(
      'the webhook was called for each feedback',
      async () => {
        await requests.promoteJobs()
        return missing().length === 0
      },
      { progress: () => missing().length, stallMs: 120_000, everyMs: 500 },
    )
  } catch {
    for (const id of missing()) violations.add('visible but not announced', id)
  } finally {
    await requests.close()
  }
  for (const id of webhook.accepted.keys()) {
    if (!visible.includes(id) && !id.startsWith('alert_'))
      violations.add('announced but not visible', id)
  }
}

export async function visibleFeedback({ sql }: Pick<Cluster, 'sql'>): Promise<string[]> {
  const rows = await sql.query<{ id: string }>('SELECT toString(id) AS id FROM intake.feedback')
  return rows.map(({ id }) => id)
}

/** How many feedbacks the receiver has accepted more than once. */
export const announcedAgain = ({ webhook }: Pick<Cluster, 'webhook'>) =>
  [...webhook!.accepted.values()].filter((times) => times > 1).length
