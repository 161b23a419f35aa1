import { createPolicyStore, suppressedMax } from '@intake/policy'
import { confirmChange } from '../confirm-change.ts'
import { UsageError } from '../endpoints.ts'
import type { Services } from '../services.ts'
import type { PersonalSubject } from '../subjects.ts'
import { untilGatewaysKnow } from '../until-gateways-know.ts'

/** Puts a sender on the list, and waits until gateways know it. What they accept before is erased. */
export async function suppress(
  { redis }: Services,
  subject: PersonalSubject,
  progress: (sentence: string) => void,
): Promise<void> {
  if (!(await createPolicyStore({ redis }).suppress(subject)))
    throw new UsageError(`${suppressedMax} senders are suppressed already; unsuppress some.`)
  await confirmChange(redis)
  await untilGatewaysKnow(progress)
}
