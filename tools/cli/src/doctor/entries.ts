import { createApiKeyStore, createPolicyStore } from '@intake/access'
import { isDamaged, type Redis } from '@intake/redis'
import { degraded, finding, type Finding } from './finding.ts'

const restore =
  'Restore Redis from a backup, or write the named entries again: docs/operations/redis-lost-its-data.md says how.'

/** Reports only names, which reveal nothing. */
export async function examineEntries(redis: Redis): Promise<Finding[]> {
  const findings = await Promise.all([
    examine('the API keys', async () => [
      ...(await createApiKeyStore({ redis }).load()).unreadable.values(),
    ]),
    examine(
      'the policy',
      async () => (await createPolicyStore({ redis }).load())?.unreadable ?? [],
    ),
  ])
  return findings.flat()
}

async function examine(what: string, read: () => Promise<string[]>): Promise<Finding[]> {
  try {
    // The finding is `degraded`, because an unreadable entry affects only the API key or the
    // setting that it describes.
    return (await read()).map((name) => degraded(unreadable(`${name} cannot be read`)))
  } catch (error) {
    if (!(error instanceof Error && isDamaged(error))) throw error
    return [unreadable(`${what} cannot be read: ${error.message}`)]
  }
}

const unreadable = (detail: string) => finding('redis_lost_its_data', detail, restore)
