import { feedbackOnly } from './feedback-only.ts'

export const logDevice = (device: Record<string, unknown>): Record<string, unknown> => {
  const copy = { ...device }
  for (const name of feedbackOnly) delete copy[name]
  return copy
}
