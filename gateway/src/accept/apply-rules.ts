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

function editLog(log: LogEntry, ruling: Ruling): LogEntry {
  return { ...log, params: applyEdits(log.params ?? {}, 'params', ruling) }
}

/**
 * Applies the edits of the rules to the `extra` column. Returns it as JSON; undefined if no field
 * remains.
 */
export function editExtra(extra: Extra, ruling: Ruling): string | undefined {
  if (extra === undefined) return undefined
  const edited = applyEdits(extra, 'extra', ruling)
  return Object.keys(edited).length === 0 ? undefined : rowJson(edited)
}

/** A value that all records of a request share, with the edits of the rules applied. */
interface Shared<Edited> {
  edited: Edited
  acted: readonly ActiveRule[]
}

/**
 * Wraps `edit` so that it runs only once for each set of rules, even if many records of the request
 * need the result.
 */
function createOncePerEdits<Edited>(
  part: EditedPart,
  edit: (ruling: Ruling) => Edited,
): (ruling: Ruling) => Edited {
  const known = new Map<string, Shared<Edited>>()
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
 * Returns a function that applies the edits of the rules to the `extra` column of a record and
 * prints the result. The function returns undefined if no field is left. It edits the unknown
 * fields of the submission only once for each set of rules.
 *
 * @param record the name under which a record's own unknown fields are printed (see `joinExtra`)
 */
function createExtraEditor(
  submission: Extra,
  record: string,
): (inRecord: Extra, ruling: Ruling) => string | undefined {
  const editSubmission = createOncePerEdits(
    'extra',
    (ruling) => submission && applyEdits(submission, 'extra', ruling),
  )
  return (inRecord, ruling) => {
    const edited = inRecord && applyEdits({ [record]: inRecord }, 'extra', ruling)[record]
    const joined = joinExtra(editSubmission(ruling), record, edited)
    return joined === undefined || Object.keys(joined).length === 0 ? undefined : rowJson(joined)
  }
}

/**
 * Returns a function that applies the edits of the rules to a sender and prints its columns. The
 * sender is edited only once for each set of rules.
 *
 * @param options.sender the sender; its device must not have been printed, because printing changes
 * a device
 * @param options.unchanged the columns printed without any edit; the function returns them if the
 * rules do not edit the device
 */
function createSenderPrinter(options: {
  context: RequestContext
  sender: Sender
  unchanged: string
}): (ruling: Ruling) => string {
  const { context, sender, unchanged } = options
  const print = createOncePerEdits('device', (ruling) => {
    const edited = editSender(sender, ruling)
    // Prints a copy, because printing changes the device.
    return senderColumns(context, { ...edited, device: { ...edited.device } }, rowJson)
  })
  return (ruling) => (ruling.edits.device.length === 0 ? unchanged : print(ruling))
}

/**
 * Returns a function that applies the edits of the rules to a log event, and prints its row without
 * the identity.
 *
 * @param options.sender as for `createSenderPrinter`
 * @param options.submission the unknown fields of the submission, besides those of its events
 */
export function createRuledPrinter(options: {
  context: RequestContext
  sender: Sender
  unchanged: string
  submission: Extra
}): (log: LogEntry, unknown: Extra, ruling: Ruling) => string {
  const printSender = createSenderPrinter(options)
  const editExtraOf = createExtraEditor(options.submission, 'log')
  return (log, unknown, ruling) =>
    logColumns(printSender(ruling), editLog(log, ruling), {
      extra: editExtraOf(unknown, ruling),
      // An edit can make an array that ClickHouse would change, so the edited event is not plain.
      print: rowJson,
      sampleRate: ruling.sampleRate,
    })
}
