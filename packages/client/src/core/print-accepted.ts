/**
 * Prints the fields of a request as JSON, without the properties of the device that the server has
 * refused.
 */
export function printAccepted(fields: { device?: unknown }, refused: readonly string[]): string {
  const device = { ...(fields.device as Record<string, unknown>) }
  for (const name of refused) delete device[name]
  return JSON.stringify({ ...fields, device })
}
