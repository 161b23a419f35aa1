import { ClickHouseError, describeError, withClickHouse } from '@intake/clickhouse'
import {
  inspectClickHouse,
  readClickHouseClock,
  readInstallation,
  type ClickHouseFacts,
} from '@intake/schema'
import { bytes } from '../status/units.ts'
import { finding, findingIf, type Finding } from './finding.ts'

export interface ClickHouseExamination {
  findings: Finding[]
  facts:
    | (Omit<ClickHouseFacts, 'schemaDifferences'> & {
        /** Null if there is none; undefined if tables or views differ from this version. */
        installation: string | null | undefined
        /** How far its clock is ahead of this machine's, within the error of the measurement. */
        aheadMs: { min: number; max: number }
      })
    | undefined
}

const timeoutMs = 15_000
const versionMin = [26, 3] as const
/** How much of each disk must be free, as for the alert. */
const freeShareMin = 0.1

/** The facts are undefined if it cannot be used. */
export async function examineClickHouse(server: {
  url: string
  cluster?: string | undefined
}): Promise<ClickHouseExamination> {
  try {
    return await withClickHouse({ ...server, requestTimeoutMs: timeoutMs }, async (clickhouse) => {
      const facts = await inspectClickHouse(clickhouse)
      const isComplete = facts.schemaDifferences.length === 0
      const installation = isComplete ? await readInstallation(clickhouse) : undefined
      const sentAt = Date.now()
      const wallMs = await readClickHouseClock(clickhouse)
      const aheadMs = { min: wallMs - Date.now(), max: wallMs - sentAt }
      return {
        findings: findClickHouseProblems(facts),
        facts: { ...facts, installation, aheadMs },
      }
    })
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error
    return { findings: [unusable(error)], facts: undefined }
  }
}

export function findClickHouseProblems(facts: ClickHouseFacts): Finding[] {
  const { version, schemaDifferences, settingViolations, disks } = facts
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < versionMin[0] || (major === versionMin[0] && minor < versionMin[1])
  const wanted = versionMin.join('.')
  return [
    ...findingIf(
      isOld,
      'clickhouse_version',
      `ClickHouse has version ${version}, and at least ${wanted} is needed`,
      `Upgrade ClickHouse to ${wanted}, the long-term support release, or later.`,
    ),
    ...schemaDifferences.map((difference) =>
      finding(
        'clickhouse_schema',
        difference,
        'Run intake setup of the version that the gateways and workers have. It applies migrations, repairs views and ' +
          'defines analysts. A table or column that is named here was removed by hand: restore it as the page says.',
      ),
    ),
    ...settingViolations.map(settingFinding),
    ...disks
      .filter(({ freeBytes, totalBytes }) => freeBytes < totalBytes * freeShareMin)
      .map(({ name, freeBytes, totalBytes }) =>
        finding(
          'clickhouse_disk',
          `the disk ${name} of ClickHouse has ${bytes(Math.max(freeBytes, 0))} of ${bytes(totalBytes)} left, less than ${freeShareMin * 100} %`,
          'Make the disk larger, shorten the retention (intake retention), or remove other files.',
        ),
      ),
  ]
}

export const settingFinding = (violation: string): Finding =>
  finding(
    'clickhouse_settings',
    violation,
    'Change it back: ALTER TABLE … MODIFY SETTING for a table, the profile for a user, config.xml for the server.',
  )

function unusable(error: ClickHouseError): Finding {
  const reason = describeError(error)
  return error.kind === 'operator'
    ? finding(
        'insert_operator',
        reason,
        'Check CLICKHOUSE_URL: doctor needs the owner of the database intake, who may read the system tables.',
      )
    : finding('insert_retry', reason, 'Start ClickHouse, or correct CLICKHOUSE_URL.')
}
