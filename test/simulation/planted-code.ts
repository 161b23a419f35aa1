import type { Edit } from '@intake/test-kit/built-copy'
import type { Rule } from './judge.ts'

/** A bug in the real code that makes the simulation break the rule `breaks`. */
interface PlantedCode {
  name: string
  edits: Edit[]
  breaks: Rule
  /** The seed of a run that finds the bug, if few runs do. The search begins with it. */
  seed?: number
}

/** The bugs that the simulation must find. */
export const plantedCode: PlantedCode[] = [
  {
    name: 'an abandoned attempt still adds its frame',
    edits: [
      {
        file: 'packages/queue/dist/producer.js',
        find: 'if (state.isAbandoned)',
        replace: 'if (false)',
      },
    ],
    breaks: 'refused but stored',
  },
  {
    name: 'a frame without a response counts as refused',
    edits: [
      {
        file: 'packages/queue/dist/producer.js',
        find: 'holder = sink;',
        replace: '',
      },
    ],
    breaks: 'refused but stored',
  },
  {
    name: 'rows are acknowledged before their frame is stored',
    edits: [
      {
        file: 'gateway/dist/commit/group-commit.js',
        find: 'await producer.add(stored, deadline);',
        replace: 'producer.add(stored, deadline).catch(() => {});',
      },
    ],
    breaks: 'lost',
  },
  {
    name: 'a reserved key is given another id',
    edits: [
      {
        file: 'gateway/dist/identity/idempotency-store.js',
        find: 'return found.id;',
        replace: 'return reservation.id;',
      },
    ],
    breaks: 'split',
  },
  {
    name: 'the images of a refused request that had a key are removed',
    edits: [
      {
        file: 'gateway/dist/commit/commit-with-images.js',
        find: '!repeatable && !mayBeStored(error)',
        replace: '!mayBeStored(error)',
      },
    ],
    breaks: 'image lost',
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
    name: 'jobs are completed before the insert',
    edits: [
      {
        file: 'worker/dist/deliver/drain-queue.js',
        find: 'const postponed = await storeBatch(',
        replace: 'await batch.complete(); const postponed = await storeBatch(',
      },
    ],
    breaks: 'lost',
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
    name: 'a record that is stored long after its arrival is acknowledged',
    edits: [
      {
        file: 'gateway/dist/commit/group-commit.js',
        find: 'if (row.receivedAtMs >= arrivedAfter)',
        replace: 'if (true)',
      },
      {
        file: 'gateway/dist/commit/group-commit.js',
        find: 'deadline <= now || row.receivedAtMs < arrivedAfter',
        replace: 'deadline <= now',
      },
    ],
    breaks: 'early',
    seed: 973,
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
    name: 'the watermark ignores the skew of clocks',
    edits: [
      {
        file: 'worker/dist/watch/watermark.js',
        find: ') - clockSkewMaxMs',
        replace: ')',
      },
    ],
    breaks: 'early',
  },
  {
    name: 'a carried frame is forgotten',
    edits: [
      {
        file: 'packages/queue/dist/consumer.js',
        find: 'carried = await claim(count);',
        replace: 'carried = (await claim(count)).slice(0, 1);',
      },
    ],
    breaks: 'stuck',
  },
]
