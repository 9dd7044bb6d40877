import { SUMMARY_COLUMNS } from './job-history-rows.js';

/** The stream whose events are projected. */
export const STREAM = 'EV';

const KEY_COLUMNS = ['endpoint_id', 'job_id', 'created_at'];
const OTHER_COLUMNS = [
  'account_id',
  ...SUMMARY_COLUMNS.filter((name) => !KEY_COLUMNS.includes(name)),
  'attempt_list',
  'webhook',
  'attempt',
  'record_sequence',
];
const COLUMNS = [...KEY_COLUMNS, ...OTHER_COLUMNS].join(', ');

/**
 * Only newer wins: a row is written over by a later version of the same record, and by nothing else. What has no
 * partition, or no endpoint any more, is left out and counted.
 */
export const WRITE = `
  WITH given AS MATERIALIZED (
    SELECT g.*, to_regclass('job_history_' || to_char(g.created_at AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NOT NULL
             AS has_place,
           EXISTS (SELECT FROM endpoints e
                    WHERE e.id = g.endpoint_id AND e.account_id = g.account_id AND e.deleted_at IS NULL) AS has_owner
      FROM jsonb_populate_recordset(NULL::job_history, $1::jsonb) AS g
  ), written AS (
    INSERT INTO job_history AS kept (${COLUMNS})
    SELECT ${COLUMNS} FROM given WHERE has_place AND has_owner
    ON CONFLICT (${KEY_COLUMNS.join(', ')}) DO UPDATE
       SET (${OTHER_COLUMNS.join(', ')}) = ROW (${OTHER_COLUMNS.map((name) => `excluded.${name}`).join(', ')})
     WHERE (excluded.attempt, excluded.record_sequence) > (kept.attempt, kept.record_sequence)
       AND NOT (kept.ended_at IS NULL AND excluded.ended_at IS NULL)
    RETURNING 1
  )
  SELECT (SELECT count(*)::integer FROM written) AS written,
         count(*) FILTER (WHERE NOT has_place)::integer AS "placeless",
         count(*) FILTER (WHERE has_place AND NOT has_owner)::integer AS "ownerless"
    FROM given`;

export const REMOVE = `
  DELETE FROM job_history h
   USING unnest($1::text[], $2::text[], $3::bigint[]) AS gone(endpoint_id, job_id, record_sequence)
   WHERE h.ended_at IS NULL AND h.endpoint_id = gone.endpoint_id AND h.job_id = gone.job_id
     AND h.record_sequence < gone.record_sequence`;

/** Last in its transaction: the lease is held still only until the commit, and who takes it over sees the rows. */
export const ADVANCE = `
  WITH held AS MATERIALIZED (SELECT 1 FROM leader_leases WHERE name = $1 AND term = $2 FOR SHARE)
  INSERT INTO job_history_position (stream, sequence, stored_at, complete_until)
  SELECT '${STREAM}', $3::bigint, $4, $5::timestamptz FROM held
  ON CONFLICT (stream) DO UPDATE
     SET sequence = excluded.sequence, stored_at = excluded.stored_at, complete_until = excluded.complete_until
  RETURNING stream`;

export const HOLD = `SELECT 1 FROM leader_leases WHERE name = $1 AND term = $2 FOR SHARE`;

export const MISSING = `
  SELECT v.ordinal::integer
    FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::integer[], $5::bigint[]) WITH ORDINALITY
      AS v(endpoint_id, job_id, created_at, attempt, record_sequence, ordinal)
   WHERE NOT EXISTS (
     SELECT FROM job_history h
      WHERE h.endpoint_id = v.endpoint_id AND h.job_id = v.job_id AND h.created_at = v.created_at
        AND (h.attempt, h.record_sequence) >= (v.attempt, v.record_sequence))`;

/** By where they lie, for an endpoint's rows are spread over all partitions; locked, so that they stay there. */
export const ORPHANS = `
  SELECT h.place, h.spot FROM endpoints e
   CROSS JOIN LATERAL (
     SELECT tableoid::regclass::text AS place, ctid::text AS spot FROM job_history
      WHERE endpoint_id = e.id LIMIT $1 FOR UPDATE) h
   WHERE e.deleted_at IS NOT NULL LIMIT $1`;

/** Status by status, so that each is walked in order and no further than the page, however rare it is. */
export const LIST = `
  SELECT h.* FROM unnest($3::text[]) AS wanted(status)
   CROSS JOIN LATERAL (
     SELECT ${SUMMARY_COLUMNS.join(', ')} FROM job_history
      WHERE account_id = $1 AND endpoint_id = $2 AND status = wanted.status
        AND created_at <= $4 AND (created_at, job_id) < ($4, $5)
      ORDER BY created_at DESC, job_id DESC LIMIT $6) h
   ORDER BY h.created_at DESC, h.job_id DESC LIMIT $6`;

export const FIND = `
  SELECT ${SUMMARY_COLUMNS.join(', ')}, attempt_list, webhook FROM job_history
   WHERE account_id = $1 AND endpoint_id = $2 AND job_id = $3 AND ended_at IS NOT NULL`;
