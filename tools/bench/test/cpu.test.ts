import t from 'tap'
import { openAccount } from '../accounting.ts'
import {
  parseMachineStat,
  parseProcessStat,
  parseSchedstat,
  readProcessCpu,
  readThreadCpu,
} from '../cpu.ts'

t.test(
  'the CPU time of a process is its user and system time, even with an odd name',
  async (t) => {
    const fields =
      '4242 (tricky) name ) 1) S 1 4242 4242 0 -1 4194560 999 0 3 0 1234 66 7 8 20 0 11 0'
    t.equal(parseProcessStat(fields), 13)
  },
)

t.test(
  'the machine is busy in user, nice, system and interrupt time; idle and I/O wait are not',
  async (t) => {
    const stat = 'cpu  100 20 300 9000 500 4 6 70 11 22\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n'
    t.same(parseMachineStat(stat), { busy: 4.3, stolen: 0.7 })
  },
)

t.test('the CPU accounted to a busy process matches the clock', { skip: noProc() }, async (t) => {
  const none = { gateway: [], redis: [], worker: [], clickhouse: [], other: [] }
  const begin = process.cpuUsage()
  const usedSince = (earlier: NodeJS.CpuUsage) => {
    const { user, system } = process.cpuUsage(earlier)
    return (user + system) / 1e6
  }
  const account = openAccount({ ...none, load: [process.pid] })
  const cpuBefore = readProcessCpu(process.pid)
  const opened = process.cpuUsage()
  // Works until this process has used 0.3 s of CPU. In a fixed time it might get less CPU, because
  // the machine may be busy.
  while (usedSince(opened) < 0.3);
  const atLeast = usedSince(opened)
  const { cpu, elapsed } = account.read()
  const atMost = usedSince(begin)
  // User and system time are each rounded down to whole ticks, at the beginning and at the end.
  const ticks = 0.02
  t.ok(elapsed > 0)
  t.ok(cpu.load > atLeast - ticks, `${cpu.load} s, this process at least ${atLeast} s`)
  t.ok(cpu.load < atMost + ticks, `${cpu.load} s, this process at most ${atMost} s`)
  t.equal(cpu.gateway, 0)
  t.ok(readProcessCpu(process.pid) > cpuBefore)
})

t.test('the CPU time of a thread is the first field, in nanoseconds', async (t) => {
  t.equal(parseSchedstat('57522255000 9443572 125\n'), 57.522255)
})

t.test('work of the event loop is that of the main thread', { skip: noProc() }, async (t) => {
  const begin = process.cpuUsage()
  const before = readThreadCpu(process.pid)
  // The loop runs compiled code without allocations, so the helper threads have nothing to do.
  let used = 0
  while (used < 0.3) {
    const { user, system } = process.cpuUsage(begin)
    used = (user + system) / 1e6
  }
  const after = readThreadCpu(process.pid)
  const main = after.main - before.main
  const helpers = after.helpers - before.helpers
  t.ok(main > 0.15 && main > helpers, `main ${main} s, helpers ${helpers} s`)
  t.ok(readThreadCpu(process.pid).main >= after.main)
})

t.test(
  'a process that is gone has used nothing that can be read',
  { skip: noProc() },
  async (t) => {
    t.throws(() => readThreadCpu(2 ** 22 + 1), { code: 'ENOENT' })
  },
)

function noProc(): string | false {
  return process.platform === 'linux' ? false : 'the accounting needs Linux'
}
