// A gateway without a queue: it makes one ClickHouse insert per request. (The embedded ClickHouse
// has no asynchronous inserts.)
import { serveLogs } from './log-server.ts'
import { openTable } from './table.ts'

const table = openTable({ connectionsMax: 16 })

await serveLogs({ accept: (row) => table.insert([row]), close: () => table.close() })
