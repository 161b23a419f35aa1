import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { transform } from 'esbuild'
import t, { type Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { bundleEntry } from '../../adapters/bundle.ts'

const timers = readFileSync(new URL('timers.js', import.meta.url), 'utf8')
const scenario = readFileSync(new URL('scenario.js', import.meta.url), 'utf8')
const hermes = process.env['HERMES']

interface Result {
  device: Record<string, unknown>
  feedback: { device: Record<string, unknown> }
  [name: string]: unknown
}

t.test('the client runs with nothing but timers and fetch', async (t) => {
  const bundle = await bundleEntry('react-native', { minify: false, globalName: 'IntakeClient' })
  const result = await new Promise<Result>((resolve, reject) => {
    const context = createContext({ setTimeout, clearTimeout, report: resolve, fail: reject })
    runInContext(`${bundle}\n${scenario}\nrunScenario(report).catch(fail)`, context)
  })
  check(t, JSON.parse(JSON.stringify(result)) as Result)
})

t.test(
  'the client runs in Hermes',
  { skip: !(hermes && existsSync(hermes)) && 'HERMES is no path of the engine' },
  async (t) => {
    const bundle = await bundleEntry('react-native', { minify: false, globalName: 'IntakeClient' })
    const file = join(createDataDir(t), 'scenario.js')
    const report =
      'runScenario((result) => print(JSON.stringify(result))).catch((e) => print(e.stack))'
    // Converts async functions in all code, even in packages, as React Native's Babel preset does.
    const { code } = await transform(`${timers}\n${bundle}\n${scenario}\n${report}\n`, {
      supported: { 'async-await': false },
    })
    writeFileSync(file, code)
    const { stdout } = await promisify(execFile)(hermes!, ['-w', file], { timeout: 60_000 })
    check(t, JSON.parse(stdout) as Result)
  },
)

function check(t: Test, result: Result): void {
  t.match(result, { left: 0, rows: 121, numbers: 121, sequences: 121, devices: 1, isKept: true })
  t.equal(result['keys'], 3, 'a key for each batch of 50')
  t.equal(result['text'], 'ü😀')
  t.match(result['image'], ['attachments', { uri: 'file:///shot.jpg', type: 'image/jpeg' }])
  const common = {
    device_brand: 'Fairphone',
    device_model: 'FP4',
    battery_level: 81,
    battery_state: 'charging',
    version_code: 12,
    supported_abis: ['arm64-v8a'],
  }
  t.match(result.device, common)
  t.notOk('is_emulator' in result.device, 'log events have no fields that are for feedback')
  t.match(result.feedback.device, { ...common, is_emulator: false })
  t.notOk('build_security_patch' in result.feedback.device, 'what is unknown is left out')
  t.notOk('first_install_time' in result.feedback.device)
  const left = (result['keysLeft'] as string[]).map((key) =>
    key.slice('intake.com.example.app.'.length),
  )
  t.same(left.toSorted(), ['sequence', 'vdevice'])
}
