import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { drained } from '../kit/checker.ts'
import { killWhile } from '../kit/kill-while.ts'
import { until } from '@intake/test-kit/until'
import { createViolations } from '../kit/violations.ts'
import { checkAttachments, visibleRows } from '../kit/visible-rows.ts'
import type { Scenario } from '../scenario.ts'

const load = { rate: 60, feedbackEvery: 3 }
const rounds = 5

/**
 * Scenarios in which S3 is killed before or after it stores an object, in which its response is
 * lost, or in which stored objects are damaged or lost.
 */
export const s3ObjectScenarios: Scenario[] = [
  {
    id: 'F43a',
    title: 'connection to S3 cut after the last byte, before the response: still 201',
    load,
    async run({ cluster, acknowledged, expectNoFailure }) {
      const { gatewayToS3 } = cluster.network
      for (let round = 0; round < rounds; round++) {
        await acknowledged(30)
        gatewayToS3.set({ dropAnswers: true })
        await pause(300)
        gatewayToS3.set()
      }
      await acknowledged(30)
      expectNoFailure()
    },
  },
  {
    id: 'F43b',
    title: 'S3 killed in the middle of uploads, five times',
    load,
    async run(stage) {
      for (let round = 0; round < rounds; round++) {
        await killWhile(stage, {
          part: stage.cluster.s3,
          link: 'gatewayToS3',
          network: { cutAfterBytes: Math.floor(stage.random() * 20_000) },
          when: () => stage.issued(15),
          rounds: 1,
        })
      }
    },
  },
  {
    id: 'F43c',
    title: 'S3 killed after it has stored images, before its response, five times',
    load,
    run(stage) {
      const stored = () => objectFiles(stage.dir).length
      return killWhile(stage, {
        part: stage.cluster.s3,
        link: 'gatewayToS3',
        network: { holdAnswers: true },
        async when() {
          const before = stored()
          await until('an image is stored', () => stored() > before)
        },
        rounds,
      })
    },
  },
  {
    id: 'F45',
    title:
      'an image damaged and another lost after they were stored: the hashes in the rows reveal both',
    load,
    async run({ cluster, acknowledged, producer, dir, expect }) {
      await acknowledged(100)
      await producer.stop()
      await drained(cluster)
      const found = async () => {
        const violations = createViolations()
        await checkAttachments(cluster, await visibleRows(cluster), violations)
        return violations.list().map((one) => one.replace(/ \(.*/, ''))
      }
      expect((await found()).length === 0, 'all images are intact')
      const [damaged, lost] = objectFiles(dir) as [string, string]
      const [first, second] = [readFileSync(damaged), readFileSync(lost)]
      writeFileSync(
        damaged,
        first.map((byte, at) => (at === 100 ? byte ^ 1 : byte)),
      )
      rmSync(lost)
      const reported = (await found()).toSorted()
      expect(
        String(reported) === '1 × attachment differs,1 × attachment missing',
        `both are reported, and nothing else (${reported.join(', ')})`,
      )
      writeFileSync(damaged, first)
      writeFileSync(lost, second)
    },
  },
]

/** The files in which the S3 server stores the bytes of the images. */
function objectFiles(dir: string): string[] {
  return readdirSync(join(dir, 's3'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('/feedback/') && name.endsWith('_object'))
    .map((name) => join(dir, 's3', name))
}
