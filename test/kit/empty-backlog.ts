/** The backlog of a queue without frames. */
export const emptyBacklog = {
  waiting: 0,
  active: 0,
  delayed: 0,
  rows: 0,
  jsonBytes: 0,
  redisBytes: 0,
  isPaused: false,
  oldestMs: undefined as number | undefined,
  isOldestExact: true,
}
