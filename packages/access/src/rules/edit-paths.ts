/** Returns what becomes of a value, which is never null; undefined removes it. */
export type Change = (value: unknown) => unknown

/** What is done to the values at a path. */
export interface PathEdit {
  /**
   * As queries see it: the name `a.b`, the name `a%2Eb` and the name `b` in the object `a` are all
   * `a.b`, and a path leads through every element of a list.
   */
  path: string
  change: Change
  /** Called each time the edit has changed a value. */
  onChange: () => void
}

/** Edits by the first part of their paths, so that a large object is walked once for all of them. */
type EditIndex = ReadonlyMap<string, readonly PathEdit[]>

/**
 * Applies edits in their order. Returns the same value if they change nothing, and never changes the
 * value itself, because the fingerprint of a record is that of what was sent.
 */
export function editPaths<Value>(value: Value, edits: readonly PathEdit[]): Value {
  return editValue(value, indexOf(edits)) as Value
}

function indexOf(edits: readonly PathEdit[]): EditIndex {
  const index = new Map<string, PathEdit[]>()
  for (const edit of edits) {
    const first = firstPart(edit.path)
    const others = index.get(first)
    if (others === undefined) index.set(first, [edit])
    else others.push(edit)
  }
  return index
}

function firstPart(path: string): string {
  const dot = path.indexOf('.')
  return dot === -1 ? path : path.slice(0, dot)
}

function editObject(value: object, index: EditIndex): object {
  let edited: Record<string, unknown> | undefined
  for (const [name, inner] of Object.entries(value) as [string, unknown][]) {
    const read = name.includes('%2E') ? name.replaceAll('%2E', '.') : name
    const edits = index.get(firstPart(read))
    if (edits === undefined) continue
    const next = editMember(inner, read, edits)
    if (next === inner) continue
    // Has no prototype, so that a member named `__proto__` is an ordinary member.
    edited ??= Object.assign(Object.create(null) as Record<string, unknown>, value)
    if (next === undefined) delete edited[name]
    else edited[name] = next
  }
  return edited ?? value
}

/** Applies the edits that concern the member of this name, or what is inside it. */
function editMember(member: unknown, name: string, edits: readonly PathEdit[]): unknown {
  let edited = member
  let inside: PathEdit[] = []
  for (const edit of edits) {
    if (edit.path.startsWith(`${name}.`)) {
      inside.push({ ...edit, path: edit.path.slice(name.length + 1) })
    } else if (edit.path === name) {
      edited = editInside(edited, inside)
      inside = []
      if (edited === null || edited === undefined) return edited
      const next = edit.change(edited)
      if (next !== edited) edit.onChange()
      edited = next
    }
  }
  return editInside(edited, inside)
}

function editInside(value: unknown, edits: readonly PathEdit[]): unknown {
  return edits.length === 0 ? value : editPaths(value, edits)
}

function editValue(value: unknown, index: EditIndex): unknown {
  if (Array.isArray(value)) {
    const edited = value.map((element) => editValue(element, index))
    return edited.some((element, at) => element !== value[at]) ? edited : value
  }
  return typeof value === 'object' && value !== null ? editObject(value, index) : value
}
