import { createObjectStore } from '@intake/object-store'
import type { RecordServices, Services } from '@intake/records'
import { findBucket } from './bucket.ts'
import { withRecords } from './records.ts'

const objectTimeoutMs = 30_000
/** Timeout of a statement. It is long, because a statement may scan all tables. */
const statementTimeoutMs = 30 * 60_000

/** Like `withRecords`, but also connects to the object store of the attachments. */
export async function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const bucket = await findBucket()
  const run = async (services: RecordServices) => {
    const objects = createObjectStore({ ...bucket, timeoutMs: objectTimeoutMs })
    try {
      return await work({ ...services, objects })
    } finally {
      objects.close()
    }
  }
  return withRecords(run, { statementTimeoutMs })
}
