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

/** The cost of receiving and queueing, without ClickHouse and the load generator. */
const ownCost = ({ gateway, redis, worker }: CpuByPart) => gateway + redis + worker

/** A variant's costs ÷ the costs of a baseline. */
export interface Multiples {
  durable: number
  gateway: number
  gatewayAndRedis: number
  /**
   * The CPU beyond `bare`, divided by the CPU of `naive` beyond `bare`. The CPU beyond `bare` is a
   * variant's CPU of gateway, Redis and worker, minus the CPU of the gateway of `bare`.
   */
  beyondBare: number
}

function multiplesOf(name: string, costs: Costs): Multiples {
  const costOf = (one: string) => costs.get(one) as CpuByPart
  const [own, bare, naive] = [costOf(name), costOf('bare'), costOf('naive')]
  const durable = costOf('durable')
  const received = ({ gateway, redis }: CpuByPart) => gateway + redis
  return {
    durable: own.gateway / durable.gateway,
    gateway: own.gateway / bare.gateway,
    gatewayAndRedis: received(own) / received(naive),
    beyondBare: (ownCost(own) - bare.gateway) / (ownCost(naive) - bare.gateway),
  }
}

export function capacityRatios(turns: readonly Costs[]): CostRatio[] {
  const valuesOf = (pick: keyof Multiples) =>
    turns.map((costs) => multiplesOf('intake', costs)[pick])
  return [
    {
      item: '1',
      what: 'Gateway CPU per event ÷ durable',
      values: valuesOf('durable'),
      limit: 1.35,
    },
    {
      item: '2',
      what: 'Gateway + Redis CPU per event ÷ naive',
      values: valuesOf('gatewayAndRedis'),
      limit: 0.5,
    },
    {
      item: '2',
      what: 'Queue overhead (all cost beyond bare) ÷ naive',
      values: valuesOf('beyondBare'),
      limit: 1 / 8,
    },
  ]
}
