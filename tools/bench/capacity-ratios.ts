import type { CpuByPart } from './accounting.ts'

/** The CPU of each variant in one turn (a round of every variant), in microseconds per event. */
export type Costs = ReadonlyMap<string, CpuByPart>

/** Intake's cost, divided by the cost of another variant, and the limit of this ratio. */
export interface CostRatio {
  /** Number of the requirement in the report. */
  item: string
  what: string
  /** The ratio in each turn. */
  values: number[]
  limit: number
}

const received = ({ gateway, redis }: CpuByPart) => gateway + redis
/** The cost of receiving and queueing, without ClickHouse and the load generator. */
const ownCost = (of: CpuByPart) => received(of) + of.worker

export function capacityRatios(turns: readonly Costs[]): CostRatio[] {
  const ratio = (item: string, what: string, limit: number, of: (costs: Costs) => number) => ({
    item,
    what,
    limit,
    values: turns.map(of),
  })
  const cost = (costs: Costs, variant: string) => costs.get(variant) as CpuByPart
  return [
    ratio('1', 'Gateway CPU per event ÷ bare', 1.6, (costs) => {
      return cost(costs, 'intake').gateway / cost(costs, 'bare').gateway
    }),
    ratio('1', 'Gateway CPU per event ÷ durable', 1.35, (costs) => {
      return cost(costs, 'intake').gateway / cost(costs, 'durable').gateway
    }),
    ratio('2', 'Gateway + Redis CPU per event ÷ naive', 0.5, (costs) => {
      return received(cost(costs, 'intake')) / received(cost(costs, 'naive'))
    }),
    ratio('2', 'Queue overhead (all cost beyond bare) ÷ naive', 1 / 8, (costs) => {
      const bare = cost(costs, 'bare').gateway
      return (ownCost(cost(costs, 'intake')) - bare) / (ownCost(cost(costs, 'naive')) - bare)
    }),
  ]
}
