{{ config(materialized='incremental', unique_key=['day', 'bundle_identifier'], order_by='(day, bundle_identifier)') }}

SELECT toDate(time) AS day, bundle_identifier, count() AS events
FROM intake.logs_flat
{% if is_incremental() %}
WHERE time >= toDateTime64((SELECT max(day) FROM {{ this }}), 3, 'UTC')
{% endif %}
GROUP BY day, bundle_identifier
