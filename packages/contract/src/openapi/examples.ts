// Requests that can be sent unchanged. Stored events have no `id`, because its time would soon be
// too old; the rejected entry shows such an `id`.

const sender = {
  bundle_identifier: 'com.example.app',
  device: {
    os: 'Android',
    device_brand: 'google',
    device_model: 'Pixel 8',
    android_version: '15',
    battery_level: 81.5,
    battery_state: 'charging',
    sdk_version: 35,
    supported_abis: ['arm64-v8a', 'armeabi-v7a'],
    version_code: 42,
    version_name: '1.4.2',
  },
  device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
  unique_user_id: 'user-1',
}

const id = '019ac3ad-2f6c-7e0a-b1d4-5c8f2a9e6b31'

export const logExample = {
  request: { ...sender, log: { event: 'screen_view', params: { screen: 'home', items: 3 } } },
  response: { message: 'Log successfully created', id },
}

export const logBatchExample = {
  request: {
    ...sender,
    logs: [
      { event: 'screen_view', params: { screen: 'cart' } },
      { id: '01700000-0000-7000-8000-000000000000', event: 'purchase', params: { items: 3 } },
    ],
  },
  response: {
    message: 'Logs processed',
    accepted: 1,
    rejected: 1,
    results: [
      { status: 'accepted', id },
      {
        status: 'rejected',
        code: 'id_time_out_of_range',
        detail:
          'The time in the id must lie within 30 days before and 10 minutes after server_time.',
        errors: [],
        server_time: '2026-11-26T07:30:00.250Z',
      },
    ],
  },
}

export const feedbackExample = {
  request: {
    payload: { ...sender, feedback: { text: 'It broke.', email: 'user@example.com' } },
  },
  response: { message: 'Feedback successfully created', id, attachments: [] },
}
