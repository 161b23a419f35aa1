/** Where attachments are stored, and how. */
export interface ObjectStoreSettings {
  /** `http(s)://[ACCESS_KEY:SECRET_KEY@]host[:port]`; each request uses the keys that are current. */
  endpoint: string | { current(): string }
  bucket: string
  region: string
  /** Where requests name the bucket: in the path (default), or in the host. */
  addressing?: 'path' | 'virtual'
  /** Folder of all objects. The keys of the store do not have it. */
  prefix?: string | undefined
  /** Encryption at rest to ask for; by default the bucket decides. */
  encryption?: { algorithm: 'AES256' | 'aws:kms'; kmsKeyId?: string | undefined } | undefined
  /** Who the requests are from, if the endpoint has no access key. */
  identity?: IdentitySettings
}

/** Sources of credentials. The first that is set is used, and the metadata of the instance if none is. */
export interface IdentitySettings {
  accessKey?: string | undefined
  secretKey?: string | undefined
  sessionToken?: string | undefined
  /** A token that STS exchanges for credentials of `role`. */
  tokenFile?: string | undefined
  role?: string | undefined
  stsUrl?: string | undefined
  /** Of the credentials of a container: a path of ECS, or a URL. */
  containerPath?: string | undefined
  containerUrl?: string | undefined
  containerToken?: string | undefined
  containerTokenFile?: string | undefined
  metadataUrl?: string | undefined
}
