/** Parts of names that mark an event as bad, as a regular expression for JavaScript and ClickHouse. */
export const badNames = String.raw`crash|error|fail|exception|anr\b`
const pattern = new RegExp(badNames, 'i')

/** Whether an event's name marks it as bad. This affects only how the event is shown. */
export const isBadEvent = (name: string): boolean => pattern.test(name)
