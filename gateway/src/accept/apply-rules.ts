import { applyEdits, type ActiveRule, type EditedPart, type Ruling } from '@intake/access'
import type { LogEntry, Sender } from '@intake/contract/schemas'
import { rowJson } from '@intake/json'
import { joinExtra } from '../record/extra.ts'
import { logColumns, senderColumns, type Extra, type RequestContext } from '../record/row.ts'

export function editSender(sender: Sender, ruling: Ruling): Sender {
  const { bundle_identifier, device_uuid, unique_user_id } = sender
  const device = applyEdits(sender.device, 'device', ruling)
  return { bundle_identifier, device, device_uuid, unique_user_id }
}

/** Returns the edited `extra` column as JSON; undefined if no field remains. */
export const editExtra = (extra: Extra, ruling: Ruling): string | undefined =>
  printExtra(extra && applyEdits(extra, 'extra', ruling))

const printExtra = (extra: Extra): string | undefined =>
  extra === undefined || Object.keys(extra).length === 0 ? undefined : rowJson(extra)

/** Wraps `edit` so that it runs only once for each set of rules. */
function oncePerEdits<Edited>(
  part: EditedPart,
  edit: (ruling: Ruling) => Edited,
): (ruling: Ruling) => Edited {
  const known = new Map<string, { edited: Edited; acted: readonly ActiveRule[] }>()
  return (ruling) => {
    const rules = ruling.edits[part].map(({ active }) => active.rule.id).join()
    let shared = known.get(rules)
    if (shared === undefined) {
      const acted: ActiveRule[] = []
      shared = { edited: edit({ ...ruling, acted }), acted }
      known.set(rules, shared)
    }
    for (const active of shared.acted) {
      if (!ruling.acted.includes(active)) ruling.acted.push(active)
    }
    return shared.edited
  }
}

/**
 * Returns a function that applies the edits of the rules to a log event, and prints its row without
 * the identity.
 *
 * @param options.sender the sender; its device must not have been printed, because printing changes
 * a device
 * @param options.unchanged the columns of the sender, printed without any edit
 * @param options.submission the unknown fields of the submission, besides those of its events
 */
export function createRuledPrinter(options: {
  context: RequestContext
  sender: Sender
  unchanged: string
  submission: Extra
}): (log: LogEntry, unknown: Extra, ruling: Ruling) => string {
  const { context, sender, unchanged, submission } = options
  const printSender = oncePerEdits('device', (ruling) => {
    const edited = editSender(sender, ruling)
    // Prints a copy, because printing changes the device.
    return senderColumns(context, { ...edited, device: { ...edited.device } }, rowJson)
  })
  const editSubmission = oncePerEdits(
    'extra',
    (ruling) => submission && applyEdits(submission, 'extra', ruling),
  )
  return (log, unknown, ruling) => {
    const columns = ruling.edits.device.length === 0 ? unchanged : printSender(ruling)
    const params = applyEdits(log.params ?? {}, 'params', ruling)
    const own = unknown && applyEdits({ log: unknown }, 'extra', ruling)['log']
    return logColumns(
      columns,
      { ...log, params },
      {
        extra: printExtra(joinExtra(editSubmission(ruling), 'log', own)),
        // An edit can make an array that ClickHouse would change, so the edited event is not plain.
        print: rowJson,
        sampleRate: ruling.sampleRate,
      },
    )
  }
}
