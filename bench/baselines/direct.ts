// A gateway without a queue: it makes one ClickHouse insert per request. It does not use
// asynchronous inserts, because the embedded ClickHouse has none.
import { serveLogs } from './log-server.ts'
import { openTable } from './table.ts'

const table = openTable({ connectionsMax: 16 })

await serveLogs({ accept: (row) => table.insert([row]), close: () => table.close() })
