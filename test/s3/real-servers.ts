import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { createManagedService } from '../faults/kit/service.ts'
import { testAwsHabits } from './aws-habits.ts'
import { embedded, minio, versitygw } from './servers.ts'
import { testStore } from './store.ts'
import { startDatabases, testWholePath } from './whole-path.ts'

/** The paths where tools/scripts/test-s3.mjs has found the programs; empty if it found none. */
const { MINIO_PROGRAM, VERSITYGW_PROGRAM } = process.env
const kinds = [
  embedded,
  ...(MINIO_PROGRAM ? [minio(MINIO_PROGRAM)] : []),
  ...(VERSITYGW_PROGRAM ? [versitygw(VERSITYGW_PROGRAM)] : []),
]

const databases = await startDatabases(t)

for (const kind of kinds) {
  t.test(kind.name, async (t) => {
    const dataDir = createDataDir(t)
    const server = createManagedService({
      name: kind.name,
      launch: (port) => kind.launch({ dataDir, port }),
    })
    t.teardown(() => server.kill())
    await server.start()
    await testStore(t, server)
    await testAwsHabits(t, server, kind)
    await testWholePath(t, server, databases)
  })
}
