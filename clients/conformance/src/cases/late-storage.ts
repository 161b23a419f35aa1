import type { ConformanceCase } from '../conformance-case.ts'
import { tap, type Trial } from '../trial.ts'

/** Much longer than a case takes. */
const foreverMs = 3_600_000
const own = { deviceUuid: undefined, flushIntervalMs: 100 }

/** Expects that all records are of one device, and that no request was refused. */
function expectOneDevice({ records, attempts, expect }: Trial, count: number): void {
  const devices = new Set(records().map(({ device_uuid: device }) => device))
  expect(devices.size === 1, () => `records of ${devices.size} devices: ${[...devices].join(', ')}`)
  const refused = attempts().filter(({ seen }) => seen.decided?.status === 400)
  expect(refused.length === 0, () => `${refused.length} requests were refused`)
  expect(records().length === count, () => `${records().length} records`)
}

/** A case in which the storage works again before a sender should give it up. */
const waits = (title: string, need: 'storageFails' | 'storageHangs'): ConformanceCase => ({
  title,
  needs: [need],
  async run(trial) {
    const { start, sender, drainLogs, settle } = trial
    await start(own)
    await sender.log(tap, { n: 0 })
    await drainLogs(1)
    await settle()
    await sender.kill()
    await start({ ...own, [`${need}Ms`]: 2_000 })
    await sender.logs('later', 10)
    await drainLogs(11)
    expectOneDevice(trial, 11)
  },
})

/** A case in which the storage never works. */
const goesOn = (title: string, need: 'storageFails' | 'storageHangs'): ConformanceCase => ({
  title,
  needs: [need],
  async run(trial) {
    const { start, sender, drainLogs } = trial
    await start({ ...own, [`${need}Ms`]: foreverMs })
    await sender.logs(tap, 10)
    await drainLogs(10)
    expectOneDevice(trial, 10)
  },
})

export const lateStorage: ConformanceCase[] = [
  waits('sends nothing without its device while its storage fails at the start', 'storageFails'),
  waits('sends nothing without its device before its storage responds', 'storageHangs'),
  goesOn('goes on with one device when its storage fails for good', 'storageFails'),
  goesOn('goes on with one device when its storage never responds', 'storageHangs'),
]
