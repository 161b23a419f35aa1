import { hash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exportRows, type ExportedRow } from './export-rows.ts'
import { type Subject } from './subject.ts'
import { parseAttachmentKey } from '@intake/contract'
import type { Services } from '../services.ts'
import { waitingFrames } from './waiting-rows.ts'

export interface ExportReport {
  records: number
  attachments: number
  /** Keys of attachments that are missing or damaged. */
  damaged: string[]
  /** Frames in Redis that this version cannot read; they may hold rows of the subject. */
  unreadableFrames: number
}

/** Writes one line of JSON for each version of a record, and attachments if there is a folder. */
export async function exportSubject(options: {
  services: Services
  subject: Subject
  write: (line: string) => Promise<void>
  folder: string | undefined
}): Promise<ExportReport> {
  const { services, subject, write, folder } = options
  const report: ExportReport = { records: 0, attachments: 0, damaged: [], unreadableFrames: 0 }
  const print = async (line: string) => {
    report.records++
    await write(line)
  }
  // Frames are read before the tables. If a frame is stored between these two steps, its rows are
  // then found in the tables.
  const waiting = await readWaiting(services, subject, report)
  const saveAll = async (attachments: readonly StoredAttachment[] = []) => {
    if (folder === undefined) return
    for (const attachment of attachments) {
      if (await save(services, folder, attachment)) report.attachments++
      else report.damaged.push(attachment.key)
    }
  }
  for await (const row of exportRows(services.clickhouse, subject)) {
    waiting.delete(identityOf(row))
    await print(row.json)
    await saveAll(row.attachments)
  }
  for (const { line, attachments } of waiting.values()) {
    await print(line)
    await saveAll(attachments)
  }
  return report
}

type StoredAttachment = NonNullable<ExportedRow['attachments']>[number]

interface WaitingRow {
  line: string
  attachments: StoredAttachment[] | undefined
}

async function readWaiting(
  { redis }: Services,
  subject: Subject,
  report: ExportReport,
): Promise<Map<string, WaitingRow>> {
  const waiting = new Map<string, WaitingRow>()
  for await (const { kind, rows } of waitingFrames(redis, subject)) {
    const head = `{"kind":"${kind === 'logs' ? 'log' : kind}","state":"waiting",`
    if (rows === undefined) report.unreadableFrames++
    for (const row of rows ?? []) {
      const parsed = JSON.parse(row) as ExportedRow
      const { attachments } = parsed
      waiting.set(identityOf(parsed), { line: head + row.slice(1), attachments })
    }
  }
  return waiting
}

const identityOf = ({ bundle_identifier, id, device_uuid }: Omit<ExportedRow, 'json'>) =>
  JSON.stringify([bundle_identifier, id, device_uuid.toLowerCase()])

/** Resolves to false if the object is missing or has another hash, or its key another form. */
async function save(
  { objects }: Services,
  folder: string,
  { key, sha256 }: { key: string; sha256: string },
): Promise<boolean> {
  // Accepts only keys in the gateway's form, because a key must not lead out of the folder.
  const isKey = parseAttachmentKey(key) !== undefined
  const body = isKey ? await objects.get(key) : undefined
  if (body === undefined || hash('sha256', body) !== sha256) return false
  const file = join(folder, key)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, body, { mode: 0o600 })
  return true
}
