import { documentedFields } from '@intake/contract/schemas'

/**
 * The pointer to the first invalid value ends before the first undocumented name, because a
 * response must not repeat names that a client chose.
 */
export function documentedPointer(
  value: unknown,
  isWrong: (value: unknown) => boolean,
): string | undefined {
  return holds(value, isWrong) ? pointerTo(value, isWrong) : undefined
}

function pointerTo(value: unknown, isWrong: (value: unknown) => boolean): string {
  if (isWrong(value)) return ''
  if (typeof value !== 'object' || value === null) return ''
  const isArray = Array.isArray(value)
  for (const [name, inner] of Object.entries(value)) {
    if (!holds(inner, isWrong)) continue
    const isKnown = isArray || documentedFields.has(name)
    return isKnown ? `/${name}${pointerTo(inner, isWrong)}` : ''
  }
  return ''
}

function holds(value: unknown, isWrong: (value: unknown) => boolean): boolean {
  if (isWrong(value)) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((inner) => holds(inner, isWrong))
}
