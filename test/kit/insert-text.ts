import type { InsertRows } from '@intake/clickhouse'
import { decompress } from '@intake/queue/frame'

/** The rows of an insert as lines of JSON. */
export const insertText = ({ coding = 'gzip', members }: InsertRows): string =>
  members.map((bytes) => decompress({ coding, bytes }).toString()).join('')
