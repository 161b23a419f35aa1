import type { ApiKeyDirectory, Policy } from '@intake/access'
import type { RecordKind } from '@intake/contract'
import type { ObjectStore } from '@intake/object-store'
import type { FrameProducer } from '@intake/queue/produce'
import { type IdempotencyStore } from '@intake/identity'
import type { KeyLimiter } from './admission/key-limits.ts'

/** The external dependencies of the gateway; each type documents its guarantee. */
export interface GatewayPorts {
  apiKeys: Pick<ApiKeyDirectory, 'isLoaded' | 'find'>
  attachments: Pick<ObjectStore, 'put' | 'remove'>
  idempotency: IdempotencyStore
  policy: Pick<Policy, 'isLoaded' | 'retentionMs' | 'isSuppressed' | 'rules'>
  limiter: KeyLimiter
  queues: Record<RecordKind, Pick<FrameProducer, 'add'>>
}
