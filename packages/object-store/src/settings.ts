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
 * Settings for credentials, with the names of AWS. The first source that is set is used, in this
 * order: the access key, the token file, the container. If none is set, the metadata service of the
 * instance is used.
 */
export type IdentitySettings = {
  [
    Name in
      | `AWS_${'ACCESS_KEY_ID' | 'SECRET_ACCESS_KEY' | 'SESSION_TOKEN'}`
      | `AWS_${'WEB_IDENTITY_TOKEN_FILE' | 'ROLE_ARN' | 'ENDPOINT_URL_STS'}`
      | `AWS_CONTAINER_CREDENTIALS_${'RELATIVE' | 'FULL'}_URI`
      | `AWS_CONTAINER_AUTHORIZATION_TOKEN${'' | '_FILE'}`
  ]?: string | undefined
}
