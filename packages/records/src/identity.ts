/** The columns that identify a record: the sorting key of its table. */
export const identity = 'bundle_identifier, time, id, device_uuid'
