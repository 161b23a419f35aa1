import { Problem } from '@intake/contract'

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: Problem } },
})

/** The problem responses that every write operation can have, by class of status. */
export const errorResponses = {
  '4xx': problem('The request was refused; nothing is stored. See `code`.'),
  '5xx': problem('The request could not be served; `code` says whether anything is stored.'),
}
