import { existsSync, readFileSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { endpointsFile } from './endpoints-file.ts'
import { tryJson } from './try-json.ts'

const pid = Type.Union([Type.Integer(), Type.Null()], {
  description: 'Null if the process is not part of the stack, or is being restarted.',
})

/** The content of `endpoints.json` of a running stack: URLs with their credentials. */
export const Endpoints = Type.Object({
  gateway: Type.String(),
  gatewayAdmin: Type.String(),
  workerAdmin: Type.Union([Type.String(), Type.Null()], {
    description: 'The admin port of the first worker; null if the stack runs none.',
  }),
  workerAdmins: Type.Array(Type.String(), { description: 'The admin ports of all workers.' }),
  page: Type.String({ description: 'The page, and the admin port of the console.' }),
  redis: Type.String(),
  clickhouse: Type.String(),
  analyst: Type.String({ description: 'ClickHouse for tools of analysts, with their user.' }),
  s3: Type.String(),
  apiKey: Type.String(),
  settings: Type.Record(Type.String(), Type.String(), {
    description:
      'Settings in the environment that all processes share. Secrets are given as paths of files.',
  }),
  pids: Type.Object({
    redis: pid,
    clickhouse: pid,
    s3: pid,
    gateway: pid,
    workers: Type.Array(pid),
    console: pid,
  }),
})
export type Endpoints = Static<typeof Endpoints>

/**
 * Undefined if no stack runs on this data directory.
 *
 * @throws {Error} if another version of Intake wrote the file, or it is damaged
 */
export function readEndpoints(dataDir: string): Endpoints | undefined {
  const file = endpointsFile(dataDir)
  if (!existsSync(file)) return undefined
  const endpoints = tryJson(readFileSync(file, 'utf8'))
  if (endpoints === undefined) throw new Error(`${file} is damaged: start the stack again.`)
  if (Value.Check(Endpoints, endpoints)) return endpoints
  throw new Error(`${file} was written by another version of Intake.`)
}
