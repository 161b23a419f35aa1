export interface ObjectStoreSettings {
  /**
   * `http(s)://[ACCESS_KEY:SECRET_KEY@]host[:port]`. Each request uses the keys of the current URL.
   */
  endpoint: string | { current(): string }
  bucket: string
  region: string
  /** Where requests name the bucket: in the path (default), or in the host. */
  addressing?: 'path' | 'virtual'
  /** The folder of all objects. It is not part of the keys in `ObjectStore`. */
  prefix?: string | undefined
  /** The encryption at rest that requests ask for. Default: the encryption that the bucket sets. */
  encryption?: { algorithm: 'AES256' | 'aws:kms'; kmsKeyId?: string | undefined } | undefined
  /** Source of the credentials, if the endpoint has no access key. */
  identity?: IdentitySettings
}

/**
 * Settings for credentials. The first source that is set is used, in this order: the access key,
 * the token file, the container. If none is set, the metadata service of the instance is used.
 */
export interface IdentitySettings {
  accessKey?: string | undefined
  secretKey?: string | undefined
  sessionToken?: string | undefined
  /** The file with a token, which STS exchanges for credentials of `role`. */
  tokenFile?: string | undefined
  role?: string | undefined
  stsUrl?: string | undefined
  /** The path of a container's credentials on the ECS host. If absent, `containerUrl` is used. */
  containerPath?: string | undefined
  containerUrl?: string | undefined
  containerToken?: string | undefined
  containerTokenFile?: string | undefined
  metadataUrl?: string | undefined
}
