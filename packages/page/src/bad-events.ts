/** Parts of names that mark an event as bad, as a regular expression for JavaScript and ClickHouse. */
export const badNames = String.raw`crash|error|fail|exception|anr\b`
const pattern = new RegExp(badNames, 'i')

/** Whether an event's name is marked as bad. It is decoration: nothing else depends on it. */
export const isBadEvent = (name: string): boolean => pattern.test(name)
