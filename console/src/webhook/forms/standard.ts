import type { StoredFeedback } from '../read-feedback.ts'

/** Returns a body for programs, as Standard Webhooks specifies it, with the whole feedback. */
export function standardBody({ device, ...columns }: StoredFeedback): string {
  const data = JSON.stringify(columns)
  return `{"type":"feedback.created","timestamp":"${columns.time}","data":${data.slice(0, -1)},"device":${device}}}`
}
