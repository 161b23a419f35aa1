/**
 * Returns the value of a field in the text that `INFO` returns; undefined if the field is missing.
 */
export function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1]
}
