import type { RecordKind } from '@intake/contract'
import { insertText } from '@intake/test-kit/insert-text'
import type { RowStore } from '../../../worker/src/deliver/ports.ts'
import type { ClickHouse, InsertAnswer } from '../clickhouse.ts'
import type { Row } from '../row.ts'
import type { Process } from '../scheduler.ts'
import type { World } from '../world.ts'

const timeoutTicks = 300

/** The tables as a worker uses them. */
export function createRowStore(options: {
  world: World
  process: Process
  clickhouse: ClickHouse
}): RowStore {
  const { world, process, clickhouse } = options
  const { code, coverage, network } = world
  const fail = (message: string, kind: 'retry' | 'split') =>
    new code.clickhouse.ClickHouseError(message, { kind })

  const call = <Answer>(
    what: string,
    handle: (answer: (value: Answer) => void) => void,
  ): Promise<Answer> =>
    network
      .ask<Answer>({ from: process, to: clickhouse.process, what, timeoutTicks, handle })
      .catch(({ message }: Error) => {
        throw fail(message, 'retry')
      })

  function readRow(line: string): Row {
    const { event, ...others } = JSON.parse(line) as Partial<Row> & { event?: string }
    return { attachments: [], text: event, ...others } as Row
  }

  return {
    async insertRows(insert) {
      const { table: name, members } = insert
      if (name === 'watermark') return storeWatermark(insertText(insert))
      const table = name as RecordKind
      if (members.length > 1) coverage['inserts of several frames']++
      const lines = insertText(insert).split('\n').filter(Boolean)
      const rows = lines.map(readRow)
      const what = `insert of ${rows.map((row) => row.text).join(' ')}`
      const reply = await call<InsertAnswer>(what, (answer) =>
        clickhouse.insert({ table, rows }, answer),
      )
      if (reply.status !== 200) throw fail('status 500', 'retry')
      if (reply.writtenRows !== rows.length) throw fail('too few rows', 'split')
    },
  }

  async function storeWatermark(text: string): Promise<void> {
    const lines = text.split('\n').filter(Boolean)
    const rows = lines.map(
      (line) => JSON.parse(line) as { kind: RecordKind; visible_until: string },
    )
    await call<void>('store the watermark', (answer) => {
      for (const { kind, visible_until: until } of rows) {
        clickhouse.watermark.store(kind, Date.parse(until))
      }
      answer()
    })
  }
}
