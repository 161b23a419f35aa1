import type { RecordKind } from '@intake/contract'

export type OperationName = 'log' | 'log_batch' | 'feedback' | 'other'

const paths = new Map<string, { operation: OperationName; kind: RecordKind }>([
  ['/api/log', { operation: 'log', kind: 'logs' }],
  ['/api/log/batch', { operation: 'log_batch', kind: 'logs' }],
  ['/api/feedback', { operation: 'feedback', kind: 'feedback' }],
])

export const operationPaths: readonly string[] = [...paths.keys()]

export function operationOf(url: string | undefined): OperationName {
  return paths.get(pathOf(url))?.operation ?? 'other'
}

/** Returns the empty text if the URL takes no records. */
export function kindOfPath(url: string | undefined): RecordKind | '' {
  return paths.get(pathOf(url))?.kind ?? ''
}

export function pathOf(url = ''): string {
  return url.split('?', 1)[0] ?? ''
}
