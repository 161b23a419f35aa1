/** The keys of the values that are not feedback. */
export const deviceKey = 'device'
export const optOutKey = 'opted-out'
export const droppedKey = 'dropped'
