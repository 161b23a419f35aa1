import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import { until } from '@intake/test-kit/until'
import { boundary, png, startUpload } from '../kit/upload.ts'
import type { Scenario, Stage } from '../scenario.ts'

const postLog = (stage: Stage) =>
  request(`${stage.cluster.gatewayUrls[0]}/api/log`, {
    method: 'POST',
    headers: { 'x-api-key': stage.cluster.apiKey, 'content-type': 'application/json' },
    body: '{}',
    headersTimeout: 15_000,
  })

export const gatewayScenarios: Scenario[] = [
  {
    id: 'F5',
    title:
      'gateway stopped with SIGTERM under load: every stored record gets its 201, other requests 503',
    everyStoredIsAnswered: true,
    cluster: { gateways: 2 },
    load: { rate: 300 },
    async run({ cluster, acknowledged, expect }) {
      for (let round = 0; round < 4; round++) {
        await acknowledged(150)
        const gateway = cluster.gateways[round % 2]!
        const began = performance.now()
        const code = await gateway.terminate()
        const ms = Math.round(performance.now() - began)
        expect(code === 0, `it exits with 0 (${code})`)
        expect(ms < 10_500, `it exits within 10 s (${ms} ms)`)
        await gateway.start()
      }
      await acknowledged(150)
    },
  },
  {
    id: 'F6',
    title: 'gateway frozen for 30 s',
    lateAnswers: true,
    async run({ cluster, acknowledged }) {
      await acknowledged(100)
      cluster.gateways[0]!.freeze()
      await pause(30_000)
      cluster.gateways[0]!.thaw()
      await acknowledged(300)
    },
  },
  {
    id: 'F7',
    title:
      'gateway with a 96 MB heap gets 100 uploads of 9 MB at once: survives, refuses with busy',
    cluster: { gatewayArgs: ['--max-old-space-size=96'] },
    load: { rate: 50 },
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      const pid = cluster.gateways[0]!.pid()
      const body = Buffer.concat([
        Buffer.from(
          `--${boundary}\r\ncontent-disposition: form-data; name="attachments"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n`,
        ),
        png,
        Buffer.alloc(9_000_000),
        Buffer.from(`\r\n--${boundary}--\r\n`),
      ])
      const statuses = await Promise.all(
        Array.from({ length: 100 }, async () => {
          try {
            const response = await request(`${cluster.gatewayUrls[0]}/api/feedback`, {
              method: 'POST',
              headers: {
                'x-api-key': cluster.apiKey,
                'content-type': `multipart/form-data; boundary=${boundary}`,
              },
              body,
            })
            await response.body.dump()
            return response.statusCode
          } catch {
            return 0 // refused before the whole body was sent
          }
        }),
      )
      // The forms lack the part `payload`. So a form gets 400 if the gateway has capacity for it,
      // and 503 if not.
      const allowed = statuses.every((status) => [0, 400, 503].includes(status))
      expect(statuses.includes(503), 'some get 503')
      expect(allowed, `only 503 and 400 (${[...new Set(statuses)].join(', ')})`)
      expect(cluster.gateways[0]!.pid() === pid && cluster.gateways[0]!.running(), 'it survives')
      await acknowledged(100)
    },
  },
  {
    id: 'F10',
    title:
      'clients that disconnect in the middle of a file, no folder for temporary files: memory is released, no error is logged',
    // `/dev/full` is not a directory, so creating a file in it fails.
    cluster: { gatewayEnv: { TMPDIR: '/dev/full' } },
    load: { feedbackEvery: 5 },
    async run(stage) {
      const { cluster, acknowledged, expect, expectNoFailure } = stage
      await acknowledged(50)
      // All uploads together exceed the budget for bytes in flight. They fit only if the gateway
      // releases the bytes of an upload when its connection closes.
      for (let round = 0; round < 8; round++) {
        const uploads = Array.from({ length: 10 }, () => startUpload(cluster, 300_000))
        await pause(200)
        for (const upload of uploads) upload.resetAndDestroy()
      }
      await acknowledged(200)
      expectNoFailure()
      const loud = cluster.gateways[0]!.log.filter(({ level }) => level === 50 || level === 'error')
      expect(loud.length === 0, `no error in the log (${loud.length})`)
    },
  },
  {
    id: 'F11',
    title: 'gateway started while Redis is down: live, not ready, 503 in time, then ready',
    async run(stage) {
      const { cluster, acknowledged, expect } = stage
      await acknowledged(50)
      await cluster.redis.kill()
      const [gateway] = cluster.gateways
      await gateway!.kill()
      await gateway!.start()
      const live = await fetch(`${gateway!.adminUrl()}/healthz`)
      const ready = await fetch(`${gateway!.adminUrl()}/readyz`)
      const began = performance.now()
      const { statusCode, body } = await postLog(stage)
      await body.dump()
      const ms = Math.round(performance.now() - began)
      expect(live.status === 200, `live (${live.status})`)
      expect(ready.status === 503, `not ready (${ready.status})`)
      expect(statusCode === 503 && ms < 6_000, `503 in time (${statusCode} after ${ms} ms)`)
      await cluster.redis.start()
      await until('it is ready', () => cluster.gatewayReady())
      await acknowledged(100)
    },
  },
]
