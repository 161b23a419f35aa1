import type { ClientOptions } from 'minio'
import { renewCredentials } from './renewed-credentials.ts'
import { loadRoleCredentials } from './role-credentials.ts'
import type { ObjectStoreSettings } from './settings.ts'

type ClientCredentials = Pick<ClientOptions, 'accessKey' | 'secretKey' | 'sessionToken'> & {
  credentialsProvider?: NonNullable<ClientOptions['credentialsProvider']>
}

/**
 * The options of the S3 client that say who its requests are from: the access key of the endpoint, or that of
 * `identity`, or a role.
 */
export function credentialsFor({
  endpoint,
  region,
  identity = {},
}: ObjectStoreSettings): ClientCredentials {
  const { username, password } = new URL(endpoint)
  if (username !== '') {
    return { accessKey: decodeURIComponent(username), secretKey: decodeURIComponent(password) }
  }
  const { accessKey, secretKey, sessionToken } = identity
  if (accessKey !== undefined && secretKey !== undefined) {
    return { accessKey, secretKey, ...(sessionToken !== undefined && { sessionToken }) }
  }
  const find = renewCredentials({ load: () => loadRoleCredentials(identity, { region }) })
  // Asked before each request. The package does not export the class that it declares here.
  const provider = {
    async getCredentials() {
      const found = await find()
      return {
        getAccessKey: () => found.accessKey,
        getSecretKey: () => found.secretKey,
        getSessionToken: () => found.sessionToken,
      }
    },
  }
  return {
    credentialsProvider: provider as unknown as ClientCredentials['credentialsProvider'] & {},
  }
}
