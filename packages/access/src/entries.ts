import { randomBytes } from 'node:crypto'
import { readInstallationHash, type Redis } from '@intake/redis'
import { tryJson } from '@intake/runtime'
import { addField, removeField, type ChangedHash } from './change.ts'

/** What an operator has decided, as JSON in a hash under its id. An entry never changes. */
export interface Entry {
  /** The kind, `_` and 12 hexadecimal digits. */
  id: string
  /** ISO 8601. */
  createdAt: string
  /** The person who added it. */
  createdBy: string
}

type Kind = 'rule' | 'alert'
type Parse<Parsed> = (json: string) => Parsed | undefined

/** Adds an entry with a new id; resolves to undefined when the hash has `max` fields. */
export async function addEntry<Choice extends object>(
  redis: Redis,
  options: { hash: ChangedHash; kind: Kind; choice: Choice; max: number; who: string },
): Promise<(Choice & Entry) | undefined> {
  const { hash, kind, choice, max, who } = options
  await readInstallationHash(redis, hash.key)
  const id = `${kind}_${randomBytes(6).toString('hex')}`
  const detail = { id, ...choice, createdAt: new Date().toISOString(), createdBy: who }
  const entry = { who, action: `${kind}-added`, subject: id, detail } as const
  const added = await addField(redis, {
    hash,
    field: id,
    value: JSON.stringify(detail),
    max,
    entry,
  })
  return added ? detail : undefined
}

/** Resolves to the removed entry, or to undefined if there was none. */
export async function removeEntry<Parsed extends object>(
  redis: Redis,
  options: { hash: ChangedHash; kind: Kind; id: string; parse: Parse<Parsed>; who: string },
): Promise<Parsed | 'unreadable' | undefined> {
  const { hash, kind, id, parse, who } = options
  const json = new Map(await readInstallationHash(redis, hash.key)).get(id)
  if (json === undefined) return undefined
  const parsed = parse(json)
  const detail = parsed ?? { id }
  const entry = { who, action: `${kind}-removed`, subject: id, detail } as const
  const removed = await removeField(redis, { hash, field: id, entry })
  return removed ? (parsed ?? 'unreadable') : undefined
}

/** Reads the JSON of an entry that any version may have written: only what all have is checked. */
export function parseEntry(kind: Kind, json: string): Entry | undefined {
  const entry = Object(tryJson(json)) as Partial<Entry>
  const { id, createdAt, createdBy } = entry
  const isId = typeof id === 'string' && new RegExp(`^${kind}_[\\da-f]{12}$`).test(id)
  const isWhole = isId && typeof createdAt === 'string' && typeof createdBy === 'string'
  return isWhole ? (entry as Entry) : undefined
}

/** Parses a hash of JSON under ids: what can be read, oldest first, and the ids of the rest. */
export function parseEntries<Parsed extends Entry>(
  stored: Iterable<readonly [id: string, json: string]>,
  parse: Parse<Parsed>,
): { entries: Parsed[]; unreadable: string[] } {
  const entries: Parsed[] = []
  const unreadable: string[] = []
  for (const [id, json] of stored) {
    const entry = parse(json)
    if (entry?.id === id) entries.push(entry)
    else unreadable.push(id)
  }
  const order = ({ createdAt, id }: Parsed) => `${createdAt} ${id}`
  return { entries: entries.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)), unreadable }
}
