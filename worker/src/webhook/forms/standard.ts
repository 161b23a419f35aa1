import type { StoredFeedback } from '../read-feedback.ts'

/** Returns the body that Standard Webhooks specifies, with all columns, for programs. */
export function standardBody({ device, ...columns }: StoredFeedback): string {
  const data = JSON.stringify(columns)
  return `{"type":"feedback.created","timestamp":"${columns.time}","data":${data.slice(0, -1)},"device":${device}}}`
}
