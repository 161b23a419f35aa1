// Locks the given folder or the given socket, prints a line and keeps running.
import { lockDataDir, lockSocket } from '../../dist/supervisor/lock.js'

const [kind, place = ''] = process.argv.slice(2)
if (kind === 'folder') await lockDataDir(place)
else await lockSocket(place)
console.log('locked')
setInterval(() => {}, 60_000)
