// A gateway without a queue: it gathers the rows of concurrent requests, inserts them together and
// responds when ClickHouse has stored them. A ClickHouse server does this gathering itself with
// `async_insert` and `wait_for_async_insert`, which the embedded ClickHouse does not have; the
// limit of time is the default of a server.
import { gather } from './gather.ts'
import { serveLogs } from './log-server.ts'
import { openTable } from './table.ts'

const table = openTable({ connectionsMax: 16 })
const store = gather({ rowsMax: 10_000, lingerMs: 200, store: (lines) => table.insert(lines) })

await serveLogs({
  accept: (rows) => store(rows.map((row) => JSON.stringify(row))),
  close: () => table.close(),
})
