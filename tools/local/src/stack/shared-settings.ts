import { resolve } from 'node:path'
import { ConsoleConfig, GatewayConfig, WorkerConfig } from '@intake/config'
import { secretNames } from '@intake/runtime'

const schemas = [GatewayConfig, WorkerConfig, ConsoleConfig]
const secrets = new Set(schemas.flatMap(secretNames))
/** Processes connect to `OWN_PORTS` only if a process of the same user listens there. */
const names = new Set([
  'OWN_PORTS',
  ...schemas.flatMap(({ properties }) => Object.keys(properties)),
])
/** Matches settings that belong to one process only, such as ADMIN_HOST. */
const ofOneProcess = /(^|_)(HOST|PORT)$/

/** Commands and further processes need these settings. Secrets are only paths of files. */
export function sharedSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const plain = [...names].filter((name) => !secrets.has(name) && !ofOneProcess.test(name))
  const files = [...secrets].map((name) => `${name}_FILE`)
  return Object.fromEntries([
    ...plain.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    ...files.flatMap((name) => (env[name] ? [[name, resolve(env[name])]] : [])),
  ])
}
