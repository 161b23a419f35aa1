import type { Driver } from '../../clients/javascript/adapters/driver.ts'
import { createProcessDriver } from '../../clients/javascript/adapters/process-driver.ts'
import { startLineProcess } from '../../clients/javascript/adapters/start-process.ts'
import { kotlinClassPath } from './kotlin-build.ts'

/** The driver of the Kotlin client; each process is a JVM. Build the client first. */
export function createKotlinDriver(): Driver {
  const flags = ['-Xshare:auto', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m']
  const args = [...flags, '-cp', kotlinClassPath(), 'intake.client.adapter.MainKt']
  return createProcessDriver('kotlin', () => startLineProcess('java', args))
}
