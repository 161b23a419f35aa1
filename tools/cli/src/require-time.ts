import { parseTime, timeForm } from '@intake/runtime'
import { InvalidArgumentError } from 'commander'

export function requireTime(text: string): Date {
  const time = parseTime(text)
  if (time === undefined) throw new InvalidArgumentError(`It must be ${timeForm}.`)
  return time
}
