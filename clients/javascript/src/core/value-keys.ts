/** The keys of all stored values that are not feedback. */
export const deviceKey = 'device'
export const optOutKey = 'opted-out'
export const droppedKey = 'dropped'
