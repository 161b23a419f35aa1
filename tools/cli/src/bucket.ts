import {
  findObjectStoreProblems,
  GatewayConfig,
  ObjectStoreConfig,
  objectStoreSettings,
} from '@intake/config'
import type { ObjectStoreSettings } from '@intake/object-store'
import { loadConfig } from '@intake/runtime/config'
import { Type } from 'typebox'
import { findEndpoint } from './endpoints.ts'

const BucketConfig = Type.Object(
  { S3_ENDPOINT: GatewayConfig.properties.S3_ENDPOINT, ...ObjectStoreConfig.properties },
  { findProblems: findObjectStoreProblems },
)

/** @throws {ConfigError} one error that names all problems of these settings of gateways */
export const findBucket = async (): Promise<ObjectStoreSettings> =>
  readBucket({
    ...process.env,
    S3_ENDPOINT: await findEndpoint('S3_ENDPOINT'),
    // `findEndpoint` has already read this file.
    S3_ENDPOINT_FILE: undefined,
  })

/** @throws {ConfigError} like `findBucket` */
export const readBucket = (env: Record<string, string | undefined>): ObjectStoreSettings =>
  objectStoreSettings(loadConfig(BucketConfig, env))
