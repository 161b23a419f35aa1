import { feedbackOnly } from './feedback-only.ts'

/** Selects the properties of the device that log events carry. */
export function logDevice(device: Record<string, unknown>): Record<string, unknown> {
  const copy = { ...device }
  for (const name of feedbackOnly) delete copy[name]
  return copy
}
