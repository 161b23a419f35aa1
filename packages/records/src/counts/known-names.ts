import { limits } from '@intake/contract'

/** Names that apps choose are shorter; values as names may not be. */
const bytesMax = 255

/** SQL for a name as it is counted. A long one is cut, so that it uses up no memory. */
export const countedName = (name: string) =>
  `if(length(${name}) <= ${bytesMax}, ${name}, concat(substringUTF8(${name}, 1, 100), '… ', hex(sipHash64(${name}))))`

/** The part of all records of an hour or day with which a name is always counted apart. */
const partsMin = { hours: 0.01, catalogue: 0.001 }

/**
 * SQL that selects the rows of `source` with two more columns: `is_kept`, whether the row's `name`
 * is counted apart, and `is_new`, whether its count must list the name in `new_names`. In a month,
 * the first names of an application are kept, up to a limit; of those that come together, the most
 * frequent. Beyond the limit only a name with a large share of its hour or day is new. So an
 * application that invents more and more names makes no count larger for long, whoever invents some
 * in its name cannot hide the events of its next release, and an hour that is counted again keeps
 * its names.
 *
 * @param options.source has `bundle_identifier`, `records`, and `name`, which is a hash
 * @param options.period SQL for the hour or day of a row
 */
export const keepKnown = (options: {
  count: 'hours' | 'catalogue'
  source: string
  period: string
}) => {
  const { count, source, period } = options
  const { [count]: partMin } = partsMin
  return `SELECT *,
      notEmpty(periods) OR place <= ${limits.monthNames} - known OR of_name >= ${partMin} * of_period AS is_kept,
      is_kept AND (empty(periods) OR has(periods, toDateTime(${period}, 'UTC'))) AS is_new
    FROM (
      SELECT *, max(names) OVER (PARTITION BY bundle_identifier) AS known,
        sum(records) OVER (PARTITION BY bundle_identifier, ${period}) AS of_period,
        dense_rank() OVER (PARTITION BY bundle_identifier, notEmpty(periods) ORDER BY of_name DESC, name) AS place
      FROM (SELECT *, sum(records) OVER (PARTITION BY bundle_identifier, ${period}, name) AS of_name FROM ${source}) AS named
      FULL JOIN (
        SELECT bundle_identifier, name, groupUniqArray(period) AS periods, count() OVER (PARTITION BY bundle_identifier) AS names
        FROM intake.counted_names
        WHERE counts = '${count}' AND bundle_identifier IN {applications:Array(String)}
          AND period >= toStartOfMonth({from:DateTime64(3, 'UTC')})
          AND period < addMonths(toStartOfMonth({from:DateTime64(3, 'UTC')}), 1)
        GROUP BY bundle_identifier, name) AS listed USING (bundle_identifier, name))
    WHERE records > 0`
}
