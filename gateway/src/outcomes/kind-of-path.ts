import type { RecordKind } from '@intake/contract'

const kindOf = new Map<string, RecordKind>([
  ['/api/log', 'logs'],
  ['/api/log/batch', 'logs'],
  ['/api/feedback', 'feedback'],
])

/** The kind of record that a request to this URL is for; empty: neither. */
export function kindOfPath(url: string | undefined): RecordKind | '' {
  return kindOf.get(url?.split('?', 1)[0] ?? '') ?? ''
}
