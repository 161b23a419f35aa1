import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { StartError } from '../supervisor/start-error.ts'
import { writePrivateJson } from './private-json.ts'
import { randomSecret } from '../engines/service.ts'

export type Secrets = ReturnType<typeof newSecrets>

/** Only the owner can read `secrets.json`. Creates what is missing in it. */
export function loadSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json')
  const kept = readSecrets(path)
  const secrets = { ...newSecrets(), ...kept }
  if (Object.keys(kept).length < Object.keys(secrets).length) writePrivateJson(path, secrets)
  return secrets
}

const newSecrets = () => ({
  redisPassword: randomSecret(),
  clickhousePassword: randomSecret(),
  workerPassword: randomSecret(),
  readerPassword: randomSecret(),
  analystPassword: randomSecret(),
  s3AccessKey: 'intake',
  s3SecretKey: randomSecret(),
  apiKey: `ik_${randomBytes(32).toString('base64url')}`,
})

/** Unknown members are accepted, because a later version may have added them. */
const keptSecrets = Type.Record(Type.String(), Type.String({ minLength: 1 }))

function readSecrets(path: string): Partial<Secrets> {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (Value.Check(keptSecrets, kept)) return kept
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
  }
  throw new StartError(`The secrets in ${path} cannot be read: restore or delete that file.`)
}
