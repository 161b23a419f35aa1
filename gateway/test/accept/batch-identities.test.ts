import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { LogEntry, Sender } from '@intake/contract/schemas'
import { createIdentity, type IdempotencyStore } from '@intake/identity'
import { systemClock } from '@intake/runtime'
import type { Entry } from '../../src/accept/batch-entries.ts'
import { assignIdentities } from '../../src/accept/batch-identities.ts'
import type { LogRecord } from '../../src/accept/log-record.ts'
import type { TakeTurn } from '@intake/http-edge'
import { logBody } from '../support.ts'

const store: IdempotencyStore = { reserve: async ({ id }) => id }

async function assign(logs: LogEntry[], key?: string): Promise<Entry[]> {
  const { log: _, ...sender } = logBody()
  const none = { columns: '', ruling: undefined, identity: undefined, first: undefined }
  const entries = logs.map((log) => ({ ...none, log, error: undefined }))
  const context = { apiKeyId: 'key_1', requestId: randomUUID(), receivedAtMs: Date.now() }
  const takeTurn: TakeTurn = async (work) => work()
  await assignIdentities(entries, {
    store,
    admitted: { sender: sender as Sender, context, key },
    terms: { retentionMs: undefined, deadline: Infinity },
    turns: { takeTurn, clock: systemClock },
  })
  return entries
}

/** Creates an entry that counts how often its content is read. */
function countingEntry(id: string | null) {
  const counter = { reads: 0 }
  const params = {
    get n() {
      counter.reads++
      return 1
    },
  }
  return { entry: { event: 'e', params, id }, counter }
}

t.test('the content of an entry is read once, however often its id is repeated', async (t) => {
  for (const id of [createIdentity(Date.now()).id, randomUUID()]) {
    for (const key of [undefined, 'k']) {
      const counted = Array.from({ length: 500 }, () => countingEntry(id))
      const entries = await assign(
        counted.map(({ entry }) => entry),
        key,
      )
      t.equal((entries.at(-1) as LogRecord).first, entries[0])
      t.equal(Math.max(...counted.map(({ counter }) => counter.reads)), 1)
    }
  }
})

t.test('the content of an entry that needs no comparison is not read', async (t) => {
  const counted = [createIdentity(Date.now()).id, null].map(countingEntry)
  await assign(counted.map(({ entry }) => entry))
  for (const { counter } of counted) t.equal(counter.reads, 0)
})
