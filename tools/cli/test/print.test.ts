import { setImmediate as nextTurn } from 'node:timers/promises'
import { PassThrough, Writable } from 'node:stream'
import { Command } from 'commander'
import t from 'tap'
import { configureOutput, print, printTo } from '../src/print.ts'

t.test('a full disk is reported once, however many lines follow', async (t) => {
  // Like the standard output of a process, it can fail more than once.
  const stdout = new PassThrough()
  stdout.write = () => stdout.emit('error', new Error('ENOSPC'))
  let reported = ''
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      reported += String(chunk)
      done()
    },
  })
  printTo({ stdout, stderr })
  const { exitCode } = process
  const listeners = process.listeners('exit')
  t.teardown(() => {
    printTo(process)
    for (const one of process.listeners('exit'))
      if (!listeners.includes(one)) process.off('exit', one)
    process.exitCode = exitCode
  })
  configureOutput(new Command())
  for (const line of ['one', 'two', 'three']) {
    print(line)
    await nextTurn()
  }
  t.equal(reported, 'The output cannot be written: ENOSPC\n')
})
