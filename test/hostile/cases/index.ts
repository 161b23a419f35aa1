import type { HostileCase } from '../hostile-case.ts'
import { aborted } from '../attack/loops.ts'
import { carelessClients } from './careless-clients.ts'
import { costlyRequests } from './costly.ts'
import { endlessBodies } from './endless-bodies.ts'
import { forms } from './forms.ts'
import { heldPlaces } from './held-places.ts'
import { idleConnections } from './idle-connections.ts'
import { preflights } from './preflights.ts'
import { queueShare } from './queue-share.ts'
import { unreadResponses } from './unread-responses.ts'

/** No attack: the baseline for the other cases. */
const nothing: HostileCase = {
  id: 'control',
  title: 'nothing, for comparison',
  sentMin: 0,
  async attack({ signal }) {
    await aborted(signal)
    return { sent: 0 }
  },
}

export const hostileCases: HostileCase[] = [
  nothing,
  ...unreadResponses,
  ...idleConnections,
  ...endlessBodies,
  ...costlyRequests,
  ...queueShare,
  ...forms,
  ...heldPlaces,
  ...preflights,
  ...carelessClients,
]
