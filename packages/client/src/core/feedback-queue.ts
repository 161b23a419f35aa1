import type { Drops } from './drops.ts'
import { parseObject } from './decide.ts'
import { parseName, printName } from './entry-name.ts'
import { attachmentsMax, feedbackMax, fewAttempts } from './limits.ts'
import type { Storage } from './ports.ts'

/** A feedback that waits. It is apart from the log events and never gives way to them. */
export interface FeedbackEntry {
  name: string
  key: string
  failures: number
}

/** A stored feedback. */
export interface StoredFeedback {
  /** The payload without its closing brace, because attachments may be left out of it later. */
  payload: string
  /** The keys of its attachments in storage. */
  attachments: string[]
}

export interface FeedbackQueue {
  /** False: too many wait. */
  hasRoom(): boolean
  add(payload: string, attachments: readonly unknown[]): Promise<void>
  oldest(): FeedbackEntry | undefined
  read(entry: FeedbackEntry): Promise<{ payload: string; attachments: unknown[] } | undefined>
  remove(entry: FeedbackEntry): Promise<void>
  /** Takes over what ended runs have left. */
  adopt(names: readonly string[]): void
  clear(): void
  count(): number
}

const attachmentKey = (key: string, index: number) => `attachment.${key}.${index}`

/** Storing a feedback takes much less. */
const orphanMs = 3_600_000

/** @param options.ageOf milliseconds since a key was made */
export function createFeedbackQueue(options: {
  storage: Storage
  drops: Drops
  run: string
  newKey: () => string
  ageOf: (key: string) => number
}): FeedbackQueue {
  const { storage, drops, run, newKey, ageOf } = options
  let entries: FeedbackEntry[] = []
  /** Being stored. */
  let arriving = 0

  return {
    hasRoom: () => entries.length + arriving < feedbackMax,
    async add(payload, attachments) {
      const key = newKey()
      const kept = attachments.slice(0, attachmentsMax)
      arriving++
      try {
        const keys = kept.map((_, index) => attachmentKey(key, index))
        for (const [index, attachment] of kept.entries())
          await storage.set(keys[index]!, attachment)
        const name = printName({
          kind: 'feedback',
          key,
          generation: 0,
          run,
          state: 'closed',
          count: 1,
          bytes: 0,
          shiftMs: 0,
        })
        const stored: StoredFeedback = { payload, attachments: keys }
        await storage.append(name, `${JSON.stringify(stored)}\n`, true)
        entries.push({ name, key, failures: 0 })
      } finally {
        arriving--
      }
    },
    oldest: () => entries.filter(({ failures }) => failures < fewAttempts)[0],
    async read(entry) {
      const text = await storage.read(entry.name)
      const stored = parseObject(text || '') as unknown as StoredFeedback
      if (typeof stored.payload !== 'string') {
        drops.add('damaged', 1)
        await this.remove(entry)
        return undefined
      }
      const attachments: unknown[] = []
      for (const key of stored.attachments) {
        const attachment = await storage.get(key)
        if (attachment !== undefined) attachments.push(attachment)
      }
      return { payload: stored.payload, attachments }
    },
    async remove(entry) {
      entries = entries.filter((one) => one !== entry)
      await storage.remove(entry.name)
      for (let index = 0; index < attachmentsMax; index++)
        await storage.set(attachmentKey(entry.key, index), undefined)
    },
    adopt(names) {
      const left = names.flatMap((name): FeedbackEntry[] => {
        const parsed = parseName(name)
        if (!parsed || parsed.kind !== 'feedback') return []
        if (entries.some(({ key }) => key === parsed.key)) return []
        return [{ name, key: parsed.key, failures: 0 }]
      })
      entries = left.sort((a, b) => (a.key < b.key ? -1 : 1)).concat(entries)
      // A process that ended while it stored a feedback has left attachments that belong to none.
      for (const name of names) {
        const [kind, key] = name.split('.')
        if (kind !== 'attachment' || !key || ageOf(key) < orphanMs) continue
        if (entries.every((entry) => entry.key !== key)) void storage.set(name, undefined)
      }
    },
    clear() {
      entries = []
    },
    count: () => entries.length,
  }
}
