SELECT bundle_identifier, sum(events) AS events FROM {{ ref('days') }} GROUP BY bundle_identifier
