import { createPolicyStore, suppressedMax } from '@intake/access'
import { confirmChange, UnconfirmedError } from '../confirm-change.ts'
import { UsageError } from '../endpoints.ts'
import type { Services } from '@intake/records'
import type { PersonalSubject } from '../subjects.ts'
import { untilGatewaysKnow } from '../until-gateways-know.ts'

/**
 * Puts a sender on the suppression list and waits until gateways know it. The erasure that follows
 * then finds everything that the gateways accepted before. If too few replicas confirm the change,
 * resolves to an error. It does not reject, because the erasure must be done in any case.
 */
export async function suppress(
  { redis }: Services,
  subject: PersonalSubject,
  progress: (sentence: string) => void,
): Promise<UnconfirmedError | undefined> {
  const policy = createPolicyStore({ redis })
  const added = await confirmChange(redis, () => policy.suppress(subject)).catch(
    (error: unknown) => {
      if (error instanceof UnconfirmedError) return error
      throw error
    },
  )
  if (added === false)
    throw new UsageError(`${suppressedMax} senders are suppressed already; unsuppress some.`)
  await untilGatewaysKnow(progress)
  return added === true ? undefined : added
}
