/** A regular expression, for JavaScript and ClickHouse, that matches the names of bad events. */
export const badNames = String.raw`crash|error|fail|exception|anr\b`
const pattern = new RegExp(badNames, 'i')

/** Whether an event's name marks it as bad. This affects only what the page shows. */
export const isBadEvent = (name: string): boolean => pattern.test(name)
