/** Dashboard queries that return nothing, or only NaN, while nothing is wrong. */
export const emptyWhenHealthy = new Set(['overview: Problems A', 'gateway: Shed records A'])
