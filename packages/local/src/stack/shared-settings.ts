import { resolve } from 'node:path'
import { GatewayConfig, WorkerConfig } from '@intake/config'
import { secretNames } from '@intake/runtime'

const schemas = [GatewayConfig, WorkerConfig]
const secrets = new Set(schemas.flatMap(secretNames))
/** The commands, too, connect only to engines of their own user. */
const names = new Set([
  'OWN_PORTS',
  ...schemas.flatMap(({ properties }) => Object.keys(properties)),
])
/** Settings of a single process, such as ADMIN_HOST. */
const ofOneProcess = /(^|_)(HOST|PORT)$/

/**
 * The settings in the environment that all gateways and workers share, for further ones and for the
 * commands. For a secret that a file sets, the path of the file instead of the value.
 */
export function sharedSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const plain = [...names].filter((name) => !secrets.has(name) && !ofOneProcess.test(name))
  const files = [...secrets].map((name) => `${name}_FILE`)
  return Object.fromEntries([
    ...plain.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    ...files.flatMap((name) => (env[name] ? [[name, resolve(env[name])]] : [])),
  ])
}
