import { Problem } from '@intake/contract'

/** Every write operation can answer with a problem under any of these. */
export const errorResponses = { '4xx': Problem, '5xx': Problem }
