import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import { s3Client } from '@intake/test-kit/s3-client'
import { until } from '@intake/test-kit/until'
import { drained } from '../kit/checker.ts'
import type { Cluster } from '../kit/cluster.ts'
import type { Scenario } from '../scenario.ts'

const kills = 3
const withinMs = 500

/** Scenarios in which the console's decoder process is killed or the object store is away. */
export const thumbnailScenarios: Scenario[] = [
  {
    id: 'F67',
    title: 'decoder killed at random, S3 away, console killed: every thumbnail comes later',
    cluster: { consoles: 1, thumbnails: true },
    // Few records are feedback, because the scenario waits until all pictures are decoded.
    load: { rate: 30, feedbackEvery: 30 },
    async run({ cluster, acknowledged, producer, random, expect }) {
      const viewer = cluster.consoles[0]!
      const counted = (outcome: string) =>
        cluster.metric(viewer, `intake_thumbnails_total{outcome="${outcome}"}`)
      await until('a thumbnail is made', async () => (await counted('made')) > 0)

      const failed = () => counted('again')
      await until(
        'kills have made pictures fail',
        async () => {
          // Waits for a new thumbnail before each kill, because then the decoder is at work.
          // Killing a decoder that is still starting makes no picture fail.
          const before = await counted('made')
          await until('one more is made', async () => (await counted('made')) > before)
          await pause(random() * withinMs)
          for (const pid of decodersOf(viewer.pid())) kill(pid)
          return (await failed()) >= kills
        },
        { progress: failed },
      )

      const { consoleToS3 } = cluster.network
      consoleToS3.set({ refuse: true })
      consoleToS3.cut()
      const isLate = ({ msg }: { msg?: string }) => msg?.startsWith('thumbnails could not be made')
      const lateLines = () => viewer.log.filter(isLate).length
      const before = lateLines()
      await until('the console says that thumbnails are late', () => lateLines() > before)
      consoleToS3.set()

      await acknowledged(60)
      const decoder = await until('it decodes', () => decodersOf(viewer.pid())[0])
      await viewer.kill()
      await until('the decoder ends with its console', () => !isRunning(decoder))
      await acknowledged(60)
      await producer.stop()
      await viewer.start()

      await drained(cluster)
      const left = async () => (await facts(cluster)).filter((one) => one.thumbnail === '').length
      await until('every picture has a thumbnail', async () => (await left()) === 0, {
        progress: left,
      })
      const all = await facts(cluster)
      expect(all.length > 20, `there are pictures (${all.length})`)
      expect((await counted('made')) > 0, 'the console counts those that it made')
      const client = s3Client(cluster.s3.url())
      for (const { thumbnail } of all) {
        const body = await buffer(await client.getObject('intake', thumbnail))
        expect(body.toString('latin1', 8, 12) === 'WEBP', `${thumbnail} is a WebP`)
      }
    },
  },
]

/** The key of each visible picture's thumbnail; an empty text for a picture without one. */
function facts({ sql }: Cluster): Promise<{ thumbnail: string }[]> {
  return sql.query(
    `SELECT ifNull(picture.thumbnail_key, '') AS thumbnail
     FROM intake.feedback ARRAY JOIN attachments AS picture`,
  )
}

/** The pids of a console's decoders. A console has no other child processes. */
function decodersOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent)
}

/** The parent of a process; undefined if the process has ended. */
function parentOf(pid: number): number | undefined {
  try {
    // The name of the program, in parentheses, may contain spaces.
    const [, state, parent] =
      /\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? []
    return state === 'Z' ? undefined : Number(parent)
  } catch {
    return undefined
  }
}

const isRunning = (pid: number) => parentOf(pid) !== undefined

function kill(pid: number): void {
  // The process may have ended since it was listed.
  if (isRunning(pid)) process.kill(pid, 'SIGKILL')
}
