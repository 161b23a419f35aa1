// Starts every service in the given folder, prints their pids and keeps running.
import { startClickHouse, startRedis, startS3 } from '../../dist/index.js'

const dataDir = process.argv[2] ?? '.'
const services = await Promise.all([
  startRedis({ dataDir: `${dataDir}/redis`, port: 0 }),
  startClickHouse({ dataDir: `${dataDir}/clickhouse`, port: 0 }),
  startS3({ dataDir: `${dataDir}/s3`, port: 0 }),
])
console.log(JSON.stringify(services.map(({ pid }) => pid)))
