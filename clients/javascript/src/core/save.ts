import { start } from './kept.ts'
import type { State } from './state.ts'
import { store } from './stored-segments.ts'
import { droppedKey } from './value-keys.ts'

/**
 * Stores what is only in memory: events, and the counts of dropped records. Runs after all earlier
 * changes in storage, such as marking an attempt.
 */
export const save = async (client: State): Promise<void> => {
  const { inOrder } = client
  client.clearTimeout(client.writeTimer)
  void start(client)
  // Each segment is a separate task, so that an attempt waits for one write, not for all.
  for (const segment of client.segments.filter(({ memory }) => memory))
    await inOrder(() => store(client, segment))
  // After the events, one of which may report these counts.
  await inOrder(async () => {
    // Does not overwrite counts that could not be read yet.
    if (!client.areDropsNew || !client.isLoaded) return
    client.areDropsNew = false
    await client.records.set(droppedKey, { ...client.unreported })
  })
  // Until here `saveSoon` sets no other timer, so that few calls wait for a slow storage.
  client.writeTimer = undefined
  if (client.segments.some(({ memory }) => memory && memory.written < memory.events.length))
    saveSoon(client)
}

export const saveSoon = (client: State): void => {
  if (!client.writeTimer && !client.isShut)
    client.writeTimer = client.setTimeout(() => void save(client), client.writeDelayMs)
}
