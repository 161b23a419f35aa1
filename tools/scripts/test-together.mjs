// Runs test files one after the other in this process. For most files, starting a process and
// loading Fastify, BullMQ and TypeBox would cost more than the tests do. Everything that a file
// starts is stopped before the next file begins. Only Redis, ClickHouse and S3 keep running: they
// are emptied for the next file.
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { rememberEnvironment } from '@intake/test-kit/environment'
import { keepServices } from '@intake/test-kit/own-services'
import { root } from './bootstrap.mjs'

/**
 * Runs files, by their paths from the root, one after the other. Skips those that another process
 * has begun: each creates a folder in `begun`.
 */
export async function runTogether(files, begun) {
  const services = []
  keepServices({ teardown: (handler) => services.push(handler) })
  for (const file of files)
    if (isFirst(join(root, begun, encodeURIComponent(file)))) await runFile(file)
  for (const handler of services.toReversed()) await handler()
}

function isFirst(folder) {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  }
}

async function runFile(file) {
  const began = performance.now()
  const restoreEnvironment = rememberEnvironment()
  const teardowns = []
  // Collects the teardowns of the file and runs them after it. Tap would run them only when the
  // process ends.
  t.teardown = (handler) => teardowns.push(handler)
  try {
    await import(pathToFileURL(join(root, file)).href)
  } catch (error) {
    t.fail(`${file} cannot be loaded`, { error })
  }
  while (!t.idle) await once(t, 'idle')
  try {
    for (const handler of teardowns.toReversed()) await handler()
  } catch (error) {
    t.fail(`a teardown of ${file} fails`, { error })
  }
  restoreEnvironment()
  t.jobs = 1
  // tools/scripts/test-reporter.mjs reads this line.
  t.comment(`file ${JSON.stringify({ file, ms: performance.now() - began })}`)
}
