// Picks as many ports as its argument says, prints them and keeps running.
import { pickPort } from '../../src/supervisor/ports.ts'

const ports: number[] = []
while (ports.length < Number(process.argv[2])) ports.push(await pickPort())
console.log(JSON.stringify(ports))
setInterval(() => {}, 60_000)
