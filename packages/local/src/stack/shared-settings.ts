import { resolve } from 'node:path'
import { GatewayConfig, WorkerConfig } from '@intake/config'
import { secretNames } from '@intake/runtime'

const schemas = [GatewayConfig, WorkerConfig]
const secrets = new Set(schemas.flatMap(secretNames))
/**
 * The names of the settings of gateways and workers, and `OWN_PORTS`. With it commands, too,
 * connect to a port in `OWN_PORTS` only if a process of the same user listens on that port.
 */
const names = new Set([
  'OWN_PORTS',
  ...schemas.flatMap(({ properties }) => Object.keys(properties)),
])
/** Settings of a single process, such as ADMIN_HOST. */
const ofOneProcess = /(^|_)(HOST|PORT)$/

/**
 * The settings in the environment that all gateways and workers share, for starting more processes
 * and for the commands. Contains no secret: for a secret that comes from a file it has the path of
 * that file, and other secrets are left out.
 */
export function sharedSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const plain = [...names].filter((name) => !secrets.has(name) && !ofOneProcess.test(name))
  const files = [...secrets].map((name) => `${name}_FILE`)
  return Object.fromEntries([
    ...plain.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
    ...files.flatMap((name) => (env[name] ? [[name, resolve(env[name])]] : [])),
  ])
}
