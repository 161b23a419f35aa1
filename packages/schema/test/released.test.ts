import t from 'tap'
import { checksumOf, migrations } from '../src/migrations/index.ts'

/**
 * The checksum of each released migration. A database stores them, and `setup` refuses a database
 * whose migrations differ.
 */
const checksums: Record<string, string> = {
  '0001-logs-and-feedback': '8bfe235bac39cd7748ece20510c18b16a42e33083f3d2be88464bb97c18e3f55',
  '0002-dead-letters': '27b8238b5796bff451c10dba783140c51b4ab718d4566d9f4480ce9f0f4ce016',
  '0003-installation': '8b8215e104789888ac2ee1dc9bf9d85473dd934208dc1d14094bdcdae358ba62',
  '0005-country': 'f0ada9325bd0153650a3692346f19d9cf394bf098bffea28ba2aa75d4cc54ea5',
  '0006-outcomes-and-watermark': 'a3f247a79de6d97a4ac4fb0d62951d0ec20dd0d5d3f47748250308a5e0af5acb',
  '0007-erasures-and-retention': '59416308e04895eb3e7aaafca8c68b46a277e33db04030605f8ee2c03a071013',
  '0008-exact-params': '9746173e693e86f875ae1e26210f1497c2a267a9be156daa6766241b696a2e0e',
  '0009-rules': '4beb7e9bae457a6e8972b95d3e2cdcdbe108ca5e1fe2d617de0c82de7d74cfe9',
  '0010-counts': '295913d7ca2142260c7bf0d751aa2719014b40742ccdb526667e3654229d763b',
  '0011-attachments': 'a3c53d76e5d142af3a8d99f7cc8c21e1669502e2aeccb1d33bce8f282122b00e',
  '0012-analysts': '080b3a9e16aa4936e57a5adc2a097cf98af8271bdf95ea8ae7c93620b01c7232',
  '0013-alerts': '2f98f99259747ef251a7b8f176fe674a0980fd6de1252ea203a4f9fce957f5c2',
  '0014-application-retention': '6f484268b4b1a47ed2af82e0871cb055251e7e0356dfc41816d5251e51a415ae',
  '0015-counted-names': 'b0d5e08c359d38a1cfb42ec6a0296593c3075927682755c1179c83a2205320c6',
  '0016-alerts-without-traces': '3ec721e38e5b6900f70acc72f1bce868066d870ca497aa1486d28309b609b325',
}

t.test('released migrations never change', async (t) => {
  t.same(
    Object.fromEntries(migrations.map((migration) => [migration.name, checksumOf(migration)])),
    checksums,
  )
})

t.test('migrations are applied in the order of their numbers', async (t) => {
  const names = migrations.map(({ name }) => name)
  t.same(names, names.toSorted())
})
