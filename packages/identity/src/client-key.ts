import { isUuid } from '@intake/contract'

const nilUuid = '00000000-0000-0000-0000-000000000000'

/**
 * The form in which a client's `Idempotency-Key` is reserved. UUIDs are converted to lower case,
 * because some clients print the same UUID sometimes in upper and sometimes in lower case.
 */
export function headerKey(key: string): string {
  return isUuid(key) ? key.toLowerCase() : key
}

/**
 * The id that a client gave a record, in lower case; undefined if there is no id, or if it is the
 * nil UUID.
 */
export function clientIdKey(id: string | null | undefined): string | undefined {
  return id == null || id === nilUuid ? undefined : id.toLowerCase()
}
