import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './bootstrap.mjs'

/** Passes on tap's output, and signals to it. Resolves to how many assertions passed and failed. */
export function runTap(args, env = process.env) {
  const tap = spawn(join(root, 'node_modules/.bin/tap'), ['--reporter=tap', ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const passOn = (signal) => tap.kill(signal)
  process.on('SIGINT', passOn).on('SIGTERM', passOn)
  let output = ''
  tap.stdout.on('data', (chunk) => {
    process.stdout.write(chunk)
    output = (output + String(chunk)).slice(-4_096)
  })
  return new Promise((resolve) => {
    tap.once('close', (code) => {
      process.off('SIGINT', passOn).off('SIGTERM', passOn)
      const [, summary = ''] = /^# \{ (total.*) \}$/m.exec(output) ?? []
      const count = (what) => Number(new RegExp(`${what}: (\\d+)`).exec(summary)?.[1] ?? 0)
      // A run that failed but printed no count counts as one failure.
      resolve({ passed: count('pass'), failed: Math.max(count('fail'), code === 0 ? 0 : 1) })
    })
  })
}

/** Prints what was skipped and the sum of runs of tap, and sets the exit code. */
export function report(runs, skipped = []) {
  const sum = (what) => runs.reduce((all, run) => all + run[what], 0)
  for (const line of skipped) console.log(`SKIPPED ${line}`)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  process.exitCode = sum('failed') === 0 ? 0 : 1
}
