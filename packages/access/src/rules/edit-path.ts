/** Returns the new value, or undefined to remove it. The old value is never null. */
export type Change = (value: unknown) => unknown

/**
 * Changes the value at a path, as queries see the path: the name `a.b`, the name `a%2Eb` and the
 * name `b` in the object `a` are all `a.b`, and a path leads through every element of a list.
 * Returns the same value if there is nothing at the path, and never changes the value itself,
 * because the fingerprint of a record is that of what was sent.
 */
export function editPath(value: unknown, path: string, change: Change): unknown {
  if (Array.isArray(value)) {
    const edited = value.map((element) => editPath(element, path, change))
    return edited.some((element, index) => element !== value[index]) ? edited : value
  }
  return typeof value === 'object' && value !== null
    ? editMembers(value as Record<string, unknown>, path, change)
    : value
}

/** Like `editPath`, for an object. */
export function editMembers<Members extends object>(
  value: Members,
  path: string,
  change: Change,
): Members {
  let edited: Record<string, unknown> | undefined
  for (const [name, inner] of Object.entries(value)) {
    const next = editMember(inner, rest(name, path), change)
    if (next === inner) continue
    // Has no prototype, so that a member named `__proto__` is an ordinary member.
    edited ??= Object.assign(Object.create(null) as Record<string, unknown>, value)
    if (next === undefined) delete edited[name]
    else edited[name] = next
  }
  return (edited ?? value) as Members
}

/**
 * @param path the path inside the member; empty for the member itself; undefined if the path does
 * not lead to it
 */
function editMember(inner: unknown, path: string | undefined, change: Change): unknown {
  if (path === undefined || inner === null || inner === undefined) return inner
  return path === '' ? change(inner) : editPath(inner, path, change)
}

function rest(name: string, path: string): string | undefined {
  const read = name.includes('%2E') ? name.replaceAll('%2E', '.') : name
  if (read === path) return ''
  return path.startsWith(`${read}.`) ? path.slice(read.length + 1) : undefined
}
