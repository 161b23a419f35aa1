SELECT sum(events) AS counted FROM {{ ref('applications') }}
HAVING counted != (SELECT count() FROM intake.logs)
