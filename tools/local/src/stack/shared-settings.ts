import { resolve } from 'node:path'
import { ConsoleConfig, GatewayConfig, WorkerConfig } from '@intake/config'
import { secretNames } from '@intake/runtime'

const schemas = [GatewayConfig, WorkerConfig, ConsoleConfig]
const secrets = new Set(schemas.flatMap(secretNames))
/**
 * The names of the settings of gateways, workers and consoles, and `OWN_PORTS`, a list of ports. Gateways,
 * workers and commands connect to such a port only if a process of the same user listens on it.
 */
const names = new Set([
  'OWN_PORTS',
  ...schemas.flatMap(({ properties }) => Object.keys(properties)),
])
/** Matches settings that belong to one process only, such as ADMIN_HOST. */
const ofOneProcess = /(^|_)(HOST|PORT)$/

/**
 * Returns the settings in the environment that all processes share. Commands use these
 * settings, and an operator can start more processes with them. They contain no secrets,
 * only the paths of files that contain secrets.
 */
export function sharedSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const plain = [...names].filter((name) => !secrets.has(name) && !ofOneProcess.test(name))
  const files = [...secrets].map((name) => `${name}_FILE`)
  return Object.fromEntries([
    ...plain.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    ...files.flatMap((name) => (env[name] ? [[name, resolve(env[name])]] : [])),
  ])
}
