import type { ClientOptions } from 'minio'
import { renewCredentials } from './renewed-credentials.ts'
import { loadRoleCredentials } from './role-credentials.ts'
import type { IdentitySettings } from './settings.ts'

type ClientProvider = NonNullable<ClientOptions['credentialsProvider']>

interface Credentials {
  accessKey: string
  secretKey: string
  sessionToken?: string | undefined
}

/**
 * Provides the credentials for the S3 client, which asks for them before each request. Uses the
 * first source that exists, in this order: the access key in the endpoint's URL, the access key of
 * `identity`, temporary credentials of a role.
 */
export function provideCredentials(options: {
  currentUrl: () => URL
  region: string
  identity?: IdentitySettings | undefined
}): ClientProvider {
  const find = findCredentials(options)
  const provider = {
    async getCredentials() {
      const { accessKey, secretKey, sessionToken } = await find()
      return {
        getAccessKey: () => accessKey,
        getSecretKey: () => secretKey,
        getSessionToken: () => sessionToken,
      }
    },
  }
  // `minio` declares this type as a class, which it does not export, so a cast is needed.
  return provider as unknown as ClientProvider
}

function findCredentials({
  currentUrl,
  region,
  identity = {},
}: Parameters<typeof provideCredentials>[0]): () => Promise<Credentials> {
  if (currentUrl().username !== '') {
    return async () => {
      const { username, password } = currentUrl()
      return { accessKey: decodeURIComponent(username), secretKey: decodeURIComponent(password) }
    }
  }
  const { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey } = identity
  if (accessKey !== undefined && secretKey !== undefined) {
    return async () => ({ accessKey, secretKey, sessionToken: identity.AWS_SESSION_TOKEN })
  }
  return renewCredentials({ load: () => loadRoleCredentials(identity, { region }) })
}
