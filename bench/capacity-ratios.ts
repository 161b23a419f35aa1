import type { CpuByPart } from './accounting.ts'

/** Microseconds of CPU per event of each variant that was measured. */
export type Costs = ReadonlyMap<string, CpuByPart>

/** Cost of one variant as a multiple of another's, with the limit that Intake sets itself. */
export interface CostRatio {
  /** Number of the requirement in the list "must show". */
  item: string
  what: string
  value: number
  limit: number
}

/** Everything but ClickHouse and the load generator: what receiving and queueing takes. */
export const ownCost = ({ gateway, redis, worker }: CpuByPart) => gateway + redis + worker

/** The ratios for which the variants were measured. */
export function capacityRatios(costs: Costs): CostRatio[] {
  const [intake, bare, naive] = ['intake', 'bare', 'naive'].map((name) => costs.get(name))
  const ratios: CostRatio[] = []
  if (intake && bare) {
    ratios.push({
      item: '1',
      what: 'Gateway CPU per event ÷ bare',
      value: intake.gateway / bare.gateway,
      limit: 1.4,
    })
  }
  if (intake && naive) {
    ratios.push({
      item: '2',
      what: 'Gateway + Redis CPU per event ÷ naive',
      value: (intake.gateway + intake.redis) / (naive.gateway + naive.redis),
      limit: 0.5,
    })
  }
  if (intake && bare && naive) {
    ratios.push({
      item: '2',
      what: 'Queue overhead (all that is beyond bare) ÷ naive',
      value: (ownCost(intake) - bare.gateway) / (ownCost(naive) - bare.gateway),
      limit: 1 / 8,
    })
  }
  return ratios
}
