/** Returns the new value of a member, which is never null; undefined removes the member. */
export type Change = (value: unknown) => unknown

export interface PathEdit {
  /**
   * As queries see it: `a.b` selects the member `b` of the object `a`, or of each element of a list
   * `a`, and also a member named `a.b` or `a%2Eb`.
   */
  path: string
  change: Change
  onChange: () => void
}

/** By the first part of the paths, so that a large object is walked once for all edits. */
type EditIndex = ReadonlyMap<string, Group>

interface Group {
  edits: PathEdit[]
  /** By the name of a member: the objects of a long list usually have the same names. */
  plans: Map<string, readonly Step[]>
}

/** An edit of the member itself, or edits of what the member contains. */
type Step = PathEdit | { inside: EditIndex }

/**
 * Applies edits in their order. Returns the same value if they change nothing. Never modifies the
 * value: a record's fingerprint is that of what was sent.
 */
export function editPaths<Value>(value: Value, edits: readonly PathEdit[]): Value {
  return editValue(value, indexOf(edits)) as Value
}

function indexOf(edits: readonly PathEdit[]): EditIndex {
  const index = new Map<string, Group>()
  for (const edit of edits) {
    const first = firstPart(edit.path)
    const group = index.get(first)
    if (group === undefined) index.set(first, { edits: [edit], plans: new Map() })
    else group.edits.push(edit)
  }
  return index
}

function firstPart(path: string): string {
  const dot = path.indexOf('.')
  return dot === -1 ? path : path.slice(0, dot)
}

function editValue(value: unknown, index: EditIndex): unknown {
  if (Array.isArray(value)) {
    const edited = value.map((element) => editValue(element, index))
    return edited.some((element, at) => element !== value[at]) ? edited : value
  }
  return typeof value === 'object' && value !== null ? editObject(value, index) : value
}

function editObject(value: object, index: EditIndex): object {
  let edited: Record<string, unknown> | undefined
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const read = name.includes('%2E') ? name.replaceAll('%2E', '.') : name
    const group = index.get(firstPart(read))
    if (group === undefined) continue
    const next = editMember(member, planFor(read, group))
    if (next === member) continue
    // The copy has no prototype, so that a member named `__proto__` is an ordinary member.
    edited ??= Object.assign(Object.create(null) as Record<string, unknown>, value)
    if (next === undefined) delete edited[name]
    else edited[name] = next
  }
  return edited ?? value
}

function planFor(name: string, { edits, plans }: Group): readonly Step[] {
  const known = plans.get(name)
  if (known !== undefined) return known
  const plan: Step[] = []
  let inside: PathEdit[] = []
  const closeInside = () => {
    if (inside.length > 0) plan.push({ inside: indexOf(inside) })
    inside = []
  }
  for (const edit of edits) {
    if (edit.path.startsWith(`${name}.`)) {
      inside.push({ ...edit, path: edit.path.slice(name.length + 1) })
    } else if (edit.path === name || name.startsWith(`${edit.path}.`)) {
      // An edit of `a` also concerns a member named `a.b`, because queries see it inside `a`.
      closeInside()
      plan.push(edit)
    }
  }
  closeInside()
  plans.set(name, plan)
  return plan
}

function editMember(member: unknown, plan: readonly Step[]): unknown {
  let edited = member
  for (const step of plan) {
    if (edited === null || edited === undefined) return edited
    if ('inside' in step) {
      edited = editValue(edited, step.inside)
      continue
    }
    const next = step.change(edited)
    if (next !== edited) step.onChange()
    edited = next
  }
  return edited
}
