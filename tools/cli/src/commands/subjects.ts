import type { Command } from 'commander'
import { addEraseCommand, addUnsuppressCommand } from './erase.ts'
import { addExportCommand } from './export.ts'

const ids = { user: 'unique_user_id', device: 'device_uuid' } as const

export function define(parent: Command, kind: 'user' | 'device'): void {
  addExportCommand(parent, kind, ids[kind])
  addEraseCommand(parent, kind, ids[kind])
  addUnsuppressCommand(parent, kind, ids[kind])
}
