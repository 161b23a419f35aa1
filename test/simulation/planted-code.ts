import type { Edit } from '@intake/test-kit/built-copy'
import type { Rule } from './judge.ts'

/** A bug in the real code that makes the simulation break the rule `breaks`. */
interface PlantedCode {
  name: string
  edits: Edit[]
  breaks: Rule
}

/** The bugs that the simulation must find. */
export const plantedCode: PlantedCode[] = [
  {
    name: 'a frame without a response counts as refused',
    edits: [
      {
        file: 'packages/queue/dist/producer.js',
        find: 'holder = to;',
        replace: '',
      },
    ],
    breaks: 'refused but stored',
  },
  {
    name: 'rows are acknowledged before their frame is stored',
    edits: [
      {
        file: 'gateway/dist/commit/store-frame.js',
        find: 'await producer.add({ ...about, ...compressed }, deadline);',
        replace: 'producer.add({ ...about, ...compressed }, deadline).catch(() => {});',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'a reserved key is given another id',
    edits: [
      {
        file: 'packages/identity/dist/idempotency-store.js',
        find: 'return found.id;',
        replace: 'return reservation.id;',
      },
    ],
    breaks: 'split',
  },
  {
    name: 'the images of a record with an unknown outcome are removed',
    edits: [
      {
        file: 'gateway/dist/commit/commit-with-images.js',
        find: '!repeatable && !mayBeStored(error)',
        replace: '!repeatable',
      },
    ],
    breaks: 'image lost',
  },
  {
    name: 'an insert without a response counts as confirmed',
    edits: [
      {
        file: 'worker/dist/deliver/repeat-insert.js',
        find: 'signal.throwIfAborted();\n            const failure',
        replace: 'if (err.message === "unknown") return undefined;\n            const failure',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'the watermark ignores records that are not in the queue yet',
    edits: [
      {
        file: 'worker/dist/watch/watermark.js',
        find: 'nowMs - limits.acceptanceMs[kind]',
        replace: 'nowMs',
      },
    ],
    breaks: 'early',
  },
  {
    name: 'a carried frame is forgotten',
    edits: [
      {
        file: 'packages/queue/dist/consumer.js',
        find: 'carried = claimed;',
        replace: 'carried = claimed.slice(0, 1);',
      },
    ],
    breaks: 'stuck',
  },
]
