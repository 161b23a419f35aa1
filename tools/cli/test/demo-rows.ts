import { documentedDeviceFields } from '@intake/contract'
import { atTime, feedbackRow, logRow } from '../../../packages/schema/test/fixture.ts'
import { inventHistory } from '../src/demo/history.ts'

/** The rows of what `intake demo` sends, without pictures. Everything arrives when it happens. */
export function demoRows(options: Parameters<typeof inventHistory>[0]) {
  const runs = inventHistory(options).map(({ app, deviceUuid, userId, device, ...sent }) => ({
    ...sent,
    sender: {
      bundle_identifier: app.bundle,
      device_uuid: deviceUuid,
      unique_user_id: userId,
      device: fieldsOf(device, (name) => documentedDeviceFields.has(name)),
      device_extra: fieldsOf(device, (name) => !documentedDeviceFields.has(name)),
      country: 'DE',
    },
  }))
  return {
    logs: runs.flatMap(({ sender, events }) =>
      events.map(({ at, event, params }) => logRow({ ...atTime(at), ...sender, event, params })),
    ),
    feedback: runs.flatMap(({ sender, feedback }) =>
      feedback.map(({ at, text, email }) =>
        feedbackRow({ ...atTime(at), ...sender, text, email: email ?? null }),
      ),
    ),
  }
}

const fieldsOf = (device: object, isWanted: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(device).filter(([name]) => isWanted(name)))
