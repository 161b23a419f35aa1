/** A table row. */
export interface Row {
  id: string
  receivedAt: number
  /** The content that the client sent; identifies the submission. */
  content: string
  /** The place of its image, if it has one. */
  image: string | undefined
}

const partitionTicks = 25

/** Stands for `toYYYYMM`. */
export function partitionOf(time: number): number {
  return Math.floor(time / partitionTicks)
}

/** Stands for UUIDv7: the time is part of the id. `serial` makes it unique. */
export function createId(time: number, serial: number): string {
  return `${time}.${serial}`
}

export function timeOf(id: string): number {
  return Number(id.split('.')[0])
}
