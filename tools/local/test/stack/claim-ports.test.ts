import t from 'tap'
import { pickPort } from '@intake/local'
import { claimPorts } from '../../src/stack/claim-ports.ts'
import { readConfig } from '../../src/stack/config.ts'

const settings = ['PORT', 'GATEWAY_ADMIN_PORT', 'CONSOLE_ADMIN_PORT', 'REDIS_PORT'] as const

/** What a start claims, if these settings are somebody's choice and the rest has defaults. */
async function claim(isChosen: (setting: string) => boolean) {
  const said: string[] = []
  const ports = await claimPorts({
    config,
    isChosen,
    say: (line) => void said.push(line),
    waitMs: 0,
    signal: AbortSignal.timeout(60_000),
  })
  return {
    said,
    ports: [
      ports.gateway,
      ports.gatewayAdmin,
      ports.consoleAdmin,
      ports.redis,
      ...ports.workerAdmin,
    ],
  }
}

const own = Object.fromEntries(
  await Promise.all(settings.map(async (name) => [name, String(await pickPort())])),
) as Record<string, string>
const worker = await pickPort()
const config = readConfig({ ...own, WORKER_ADMIN_PORT: String(worker), WORKERS: '2' })

t.test('two that start at the same moment choose different ports', async (t) => {
  const both = await Promise.all([claim(() => false), claim(() => false)])
  const all = both.flatMap(({ ports }) => ports)
  t.equal(new Set(all).size, all.length, all.join())
  t.match(
    both.flatMap(({ said }) => said),
    settings.map(() => /^Port \d+ for .* cannot be used, another .*: it is \d+ this time\.$/),
  )
})

t.test('a port that somebody has chosen, and another start has, is an error', async (t) => {
  const message = new RegExp(
    `Port ${own['PORT']} for the gateway cannot be used, another Intake has it: set PORT`,
  )
  await t.rejects(
    claim((setting) => setting === 'PORT'),
    { name: 'StartError', message },
  )
})
