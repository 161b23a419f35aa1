/**
 * A regular expression that matches the names of bad events. It works in JavaScript and ClickHouse.
 */
export const badNames = String.raw`crash|error|fail|exception|anr\b`
const pattern = new RegExp(badNames, 'i')

/** Whether an event counts as bad because of its name. This affects only what the page shows. */
export const isBadEvent = (name: string): boolean => pattern.test(name)
