import type { IntakeError } from '@intake/contract'
import type { Row } from '../record/row.ts'

/** A row that is not in a frame yet. */
export interface Waiting {
  row: Row
  /** The time by which the row must be stored, in milliseconds of `clock.now()`. */
  deadline: number
  resolve: () => void
  reject: (error: IntakeError) => void
}

/**
 * The maximum difference between the deadlines of a frame's first row and its other rows. All rows
 * of a frame settle together, so the deadlines must be similar.
 */
const deadlineSpreadMs = 1_000
const frameRowsMax = 1_000
const frameCharactersMax = 1024 * 1024

/**
 * Chooses the oldest row and as many rows of its partition as fit into one frame. The rows that are
 * not chosen are returned as `others`, in their order.
 */
export function chooseFrame(waiting: Waiting[]): { frame: Waiting[]; others: Waiting[] } {
  const [first] = waiting
  const frame: Waiting[] = []
  const others: Waiting[] = []
  if (first === undefined) return { frame, others }
  let characters = 0
  let isFull = false
  for (const one of waiting) {
    const { row, deadline } = one
    if (isFull || row.partition !== first.row.partition) {
      others.push(one)
      continue
    }
    isFull =
      frame.length === frameRowsMax ||
      Math.abs(deadline - first.deadline) > deadlineSpreadMs ||
      (characters + row.json.length >= frameCharactersMax && frame.length > 0)
    if (isFull) {
      others.push(one)
    } else {
      frame.push(one)
      characters += row.json.length + 1
    }
  }
  return { frame, others }
}
