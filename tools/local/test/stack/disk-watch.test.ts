import t from 'tap'

import { watchDisk } from '../../src/stack/disk-watch.ts'

const mebibyte = 1024 ** 2

t.test('one line when a disk becomes full, and one when it has room again', async (t) => {
  const clock = t.capture(globalThis, 'setInterval', () => 0)
  let freeBytes = 100 * mebibyte
  const lines: string[] = []
  const watch = watchDisk({
    dataDir: '/data',
    fullBelowBytes: 16 * mebibyte,
    say: (line) => lines.push(line),
    freeBytes: () => freeBytes,
  })
  const [check] = clock.args()[0] as unknown as [() => void]
  for (const mebibytes of [20, 15, 10, 0, 20, 31, 32, 20, 16]) {
    freeBytes = mebibytes * mebibyte
    check()
  }
  t.strictSame(lines, [
    'The disk of /data is full: records are refused or wait until there is room. No accepted record is lost.',
    'The disk of /data has room again.',
  ])
  watch.stop()
})

t.test('a disk whose free space cannot be read does not count as full', async (t) => {
  const lines: string[] = []
  const say = (line: string) => lines.push(line)
  const options = { fullBelowBytes: 16 * mebibyte, say }
  watchDisk({ dataDir: '/no/such/folder', ...options }).stop()
  t.strictSame(lines, [])
})
