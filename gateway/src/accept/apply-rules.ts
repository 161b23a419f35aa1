import { applyEdits, type ActiveRule, type Ruling } from '@intake/access'
import type { LogEntry, Sender } from '@intake/contract'
import type { RequestContext } from '../record/request-context.ts'
import { senderColumns, type Extra } from '../record/row.ts'
import { rowJson } from '../record/row-json.ts'

/** Applies the edits of the rules to a sender. */
export function editSender(sender: Sender, ruling: Ruling): Sender {
  const { bundle_identifier, device_uuid, unique_user_id } = sender
  const device = applyEdits(sender.device, 'device', ruling)
  return { bundle_identifier, device, device_uuid, unique_user_id }
}

/** Applies the edits of the rules to a log event. */
export function editLog(log: LogEntry, ruling: Ruling): LogEntry {
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

/**
 * Prints the columns of a sender after the edits of the rules, once for each set of changes that
 * its records need.
 *
 * @param options.sender its device must not have been printed yet, because printing changes it
 * @param options.unchanged the columns that no rule has changed
 */
export function createSenderPrinter(options: {
  context: RequestContext
  sender: Sender
  unchanged: string
}): (ruling: Ruling) => string {
  const { context, sender, unchanged } = options
  const printed = new Map<string, { columns: string; acted: readonly ActiveRule[] }>()
  return (ruling) => {
    const edits = ruling.edits.device
    if (edits.length === 0) return unchanged
    const rules = edits.map(({ active }) => active.rule.id).join()
    let known = printed.get(rules)
    if (known === undefined) {
      const acted: ActiveRule[] = []
      const edited = editSender(sender, { ...ruling, acted })
      // Uses a copy, because printing changes the device.
      const copy = { ...edited, device: { ...edited.device } }
      known = { columns: senderColumns(context, copy), acted }
      printed.set(rules, known)
    }
    ruling.acted.push(...known.acted)
    return known.columns
  }
}
