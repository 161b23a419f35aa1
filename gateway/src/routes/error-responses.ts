import { Problem } from '@intake/contract'

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: Problem } },
})

/** Every write operation can respond with a problem of either class. */
export const errorResponses = {
  '4xx': problem('The request was refused; nothing is stored. See `code`.'),
  '5xx': problem('The request could not be served; `code` says whether anything is stored.'),
}
