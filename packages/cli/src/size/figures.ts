/**
 * What one event takes, measured on one machine with two shared cores. `docs/operations/capacity.md` has the same
 * figures with their conditions; each names its source.
 */

/** Bytes of an event as JSON, and microseconds of CPU. */
type ByEventBytes = readonly (readonly [eventBytes: number, us: number])[]

/** The event that the other figures are for. */
export const measuredEventBytes = 1_300

/** Gateway, one event per request: bench/results/latest.md, "By body". */
export const gatewayUs: ByEventBytes = [
  [400, 90],
  [1_300, 114],
  [4_000, 176],
  [16_000, 459],
]

/** Gateway, as a share of a single event, by events per request: bench/results/latest.md, "By body" (32 and 16 of 114 µs). */
export const gatewayBatchShare = [
  [1, 1],
  [10, 32 / 114],
  [100, 16 / 114],
] as const

/** ClickHouse, inserts and merges of a row: bench/results/latest.md, "By body". */
export const clickhouseUs: ByEventBytes = [
  [400, 21],
  [1_300, 43],
  [4_000, 201],
  [16_000, 867],
]

/** Share of its core at which 99 % of a gateway's responses come within 13 ms: bench/results/latest.md, "Latency". */
export const gatewayShare = 0.5

/** Rows per second that one worker stored into a ClickHouse on two cores: bench/results/latest.md, "Drain". */
export const workerRowsPerSecond = 25_303

/** Redis, bytes of a waiting event by events per second of one gateway: bench/notes/capacity.md, bench/results/latest.md. */
export const redisBytes = [
  [20, 2_119],
  [400, 1_312],
  [1_000, 678],
  [8_500, 340],
] as const

/** Redis, bytes of a waiting event in batches of 100 per request: docs/operations/capacity.md. */
export const redisBatchBytes = 142

/** Redis, CPU to take an event and to hand it to a worker: bench/results/latest.md. */
export const redisUs = 10.7 + 2.6

/** ClickHouse, bytes of a row on disk if every event has another device: bench/notes/capacity.md. */
export const rowBytes = 118

/** A form with two images of 300 kB, CPU of the gateway: bench/results/latest.md, "Feedback". */
export const formUs = 5_000
export const formImageBytes = 600_000

/** Of Redis's memory: logs are refused at the first and accepted again at the second (gateway/src/admission/admission.ts). */
export const refuseShare = 0.75
export const resumeShare = 0.65
/** Of Redis's memory, at most, for idempotency keys (packages/config/src/gateway.ts). */
export const reservationsShare = 0.25
