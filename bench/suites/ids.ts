import type { Bench } from '../bench.ts'
import { measureIdRounds } from './ids-rounds.ts'
import { measureReservations } from './ids-reservations.ts'
import { measureVolume } from './ids-volume.ts'
import type { SuiteResult } from './suite.ts'

const method = `**CPU**: single logs over 64 connections and batches of 100 over 16, with a fresh UUIDv7 from
the client in every event and without ids; closed loops, ABBA, the worker frozen during the load as in
\`capacity\`. **Volume**: batches of 500 with UUIDv7 ids over 16 connections into an empty Redis of 64 MB;
every tenth request is sent twice with the same bytes and must get the same response. After a temporary
refusal (\`queue_full\`, \`busy\`, Redis unreachable) the sender waits \`Retry-After\` and sends the same
bytes again; any other refusal, in particular \`keys_full\`, ends the run. **Reservations**: batches of 100
with UUIDv4 ids, each of which is an idempotency key, into an empty Redis of 512 MB; \`used_memory\` of
Redis when idle is compared with that after as many events without ids.`

/** The cost of client ids. */
export async function ids(bench: Bench): Promise<SuiteResult> {
  const parts = [
    await measureIdRounds(bench),
    await measureVolume(bench),
    await measureReservations(bench),
  ]
  return {
    name: 'ids',
    title: 'Client ids',
    method,
    tables: parts.map(({ table }) => table),
    checks: parts.flatMap(({ checks }) => checks),
    plots: [],
    raw: parts.map(({ raw }) => raw),
  }
}
