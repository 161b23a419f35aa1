export const deviceKey = 'device'
export const optOutKey = 'opted-out'
export const droppedKey = 'dropped'
