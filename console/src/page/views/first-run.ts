import { html, type Html } from '../html.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'

const request = `curl YOUR_GATEWAY/api/log -H 'x-api-key: YOUR_KEY' -H 'content-type: application/json' -d '{
  "bundle_identifier": "com.example.shop", "device_uuid": "df5d5c64-dba0-4337-96e2-72a3049d0d09",
  "unique_user_id": "me", "device": { "os": "Android", "version_name": "1.0.0" },
  "log": { "event": "hello", "params": { "from": "curl" } } }'`

/**
 * A new installation shows this view instead of the overview. It contains an example request to
 * copy. A worker does not know the address of a gateway, so the view says where to find it.
 */
export function firstRun(header: Header): Html {
  return document({
    header,
    view: 'overview',
    title: 'Overview',
    body: html`<section class="card wide first">
      <h2>Nothing has arrived yet</h2>
      <p>
        Send the first event to a gateway. It shows up on <a href="/live">Live</a> about a second
        later.
      </p>
      <pre>${request}</pre>
      <p class="mute">
        The address of a gateway: <code>http://127.0.0.1:3000</code>, if <code>npm start</code> has
        printed no other. A key: <code>./intake keys create --name my-app</code>. Refused requests
        are counted here too, with the reason.
      </p>
    </section>`,
  })
}
