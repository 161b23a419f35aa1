import { Type, type TUnsafe } from 'typebox'
import { limits } from '../limits.ts'
import { uuidPattern } from '../uuid.ts'

export const identifier = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.identifierLength, description })

export const deviceUuid = Type.String({
  pattern: uuidPattern,
  description: 'Identifies the device.',
})

/**
 * A local part, quoted if it contains spaces, and a domain of labels. The `idn-email` format
 * rejects domains with combining marks, as in Hindi and Thai. The gateway removes white space
 * around the address.
 */
export const emailPattern = String.raw`^\s*(?:[^\s\p{Cc}\p{Cs}"(),:;<>@]+|"[^\p{Cc}\p{Cs}"]+")@[^\s\p{Cc}\p{Cs}"(),;<>@.]+(?:\.[^\s\p{Cc}\p{Cs}"(),;<>@.]+)*\s*$`

/** Error texts for values that do not match a pattern; the key is the pattern. */
export const expectations: ReadonlyMap<string, string> = new Map([
  [uuidPattern, 'must be a UUID'],
  [emailPattern, 'must be an e-mail address'],
])

/** An optional field for which `null` means absent. */
export const nullable = <T>(
  type: string,
  options: Record<string, unknown> = {},
): TUnsafe<T | null> => Type.Unsafe<T | null>({ type: [type, 'null'], ...options })
