import { mkdir, open, readdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { quantity, visibleJson } from '@intake/runtime'
import type { Command } from 'commander'
import { UsageError } from '../endpoints.ts'
import { exportSubject } from '@intake/records'
import { withServices } from '../services.ts'
import { noteSubject, personalSubject } from '../subjects.ts'
import { note, printJsonLine } from '../print.ts'

export function addExportCommand(parent: Command, kind: 'user' | 'device', id: string): void {
  parent
    .command(`export <${id}>`)
    .description(`print everything that is stored about this ${kind}, one line of JSON per record`)
    .option('--bundle <identifier>', 'only in this application')
    .option('--out <folder>', 'write records.jsonl and the attachments into this empty folder')
    .addHelpText(
      'after',
      '\nEach line has its kind (log, feedback, dead_letter) and state: visible to analysts, superseded\n' +
        'by another version, waiting in Redis, or rejected by ClickHouse.',
    )
    .action((value: string, flags: { bundle?: string; out?: string }) =>
      withServices(async (services) => {
        const subject = personalSubject(kind, value, flags)
        const folder = flags.out
        if (folder !== undefined) await makeEmptyFolder(folder)
        await noteSubject(services.redis, 'subject-exported', subject)
        const file = folder && (await open(join(folder, 'records.jsonl'), 'wx', 0o600))
        try {
          const write = file ? lineWriter(file) : printJsonLine
          const report = await exportSubject({ services, subject, write, folder })
          note(
            `${quantity(report.records, 'record')}, ${quantity(report.attachments, 'attachment')}`,
          )
          if (report.damaged.length === 0) return
          throw new UsageError(`Incomplete: missing or damaged:\n${report.damaged.join('\n')}`)
        } finally {
          if (file) await file.close()
        }
      }),
    )
}

async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await readdir(folder)).length > 0) throw new UsageError(`${folder} is not empty.`)
}

const lineWriter = (file: FileHandle) => async (line: string) => {
  // Escapes control characters, because a person may show the file in a terminal.
  await file.write(`${visibleJson(line)}\n`)
}
