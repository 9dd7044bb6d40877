import { SUMMARY_COLUMNS } from './job-history-rows.js';

const KEY_COLUMNS: readonly string[] = ['endpoint_id', 'job_id', 'created_at'];
const OTHER_COLUMNS: readonly string[] = [
  ...SUMMARY_COLUMNS.filter((name) => !KEY_COLUMNS.includes(name)),
  'attempt_list',
  'webhook',
  'attempt',
];
const COLUMNS = [...KEY_COLUMNS, ...OTHER_COLUMNS].join(', ');

export const PROGRESS = `SELECT shard, stream_created, sequence, complete_until FROM job_history_shards`;

export const COMPLETE_UNTIL = `SELECT complete_until FROM job_history_shards WHERE shard = $1`;

export const BEGIN_SHARD = `
  INSERT INTO job_history_shards (shard, stream_created, sequence) VALUES ($1, $2, $3)
  ON CONFLICT DO NOTHING RETURNING shard`;

/** First in its transaction: a projector that is behind waits here for one that is not, and then writes nothing. */
export const MOVE_SHARD = `
  UPDATE job_history_shards SET stream_created = $2, sequence = $3, complete_until = $4
   WHERE shard = $1 AND stream_created = $5 AND sequence = $6
  RETURNING shard`;

export const CONFIRM_SHARDS = `
  UPDATE job_history_shards kept SET complete_until = given.complete_until
    FROM unnest($1::integer[], $2::text[], $3::bigint[], $4::timestamptz[])
      AS given(shard, stream_created, sequence, complete_until)
   WHERE kept.shard = given.shard AND kept.stream_created = given.stream_created AND kept.sequence = given.sequence`;

/**
 * An endpoint's own row says whose it is; jobs without a partition, or without an endpoint any more, are left out and
 * counted. An end that was read in the right order is newer than the one that is kept; only a log that is read once
 * more from its beginning may bring an end that a later attempt has overtaken.
 */
export const WRITE = `
  WITH given AS MATERIALIZED (
    SELECT g.*, e.account_id AS owner,
           to_regclass('job_history_' || to_char(g.created_at AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NOT NULL AS has_place
      FROM jsonb_populate_recordset(NULL::job_history, $1::jsonb) AS g
      LEFT JOIN endpoints e ON e.id = g.endpoint_id AND e.deleted_at IS NULL
  ), written AS (
    INSERT INTO job_history AS kept (account_id, ${COLUMNS})
    SELECT owner, ${COLUMNS} FROM given WHERE has_place AND owner IS NOT NULL
    ON CONFLICT (${KEY_COLUMNS.join(', ')}) DO UPDATE
       SET (${OTHER_COLUMNS.join(', ')}) = ROW (${OTHER_COLUMNS.map((name) => `excluded.${name}`).join(', ')})
     WHERE excluded.attempt > kept.attempt
        OR (excluded.attempt = kept.attempt AND (kept.ended_at IS NULL OR excluded.ended_at IS NOT NULL))
    RETURNING 1
  )
  SELECT (SELECT count(*)::integer FROM written) AS written,
         count(*) FILTER (WHERE NOT has_place)::integer AS "placeless",
         count(*) FILTER (WHERE has_place AND owner IS NULL)::integer AS "ownerless"
    FROM given`;

export const KNOWN = `
  SELECT h.* FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS wanted(endpoint_id, job_id, created_at)
   CROSS JOIN LATERAL (
     SELECT ${COLUMNS} FROM job_history
      WHERE endpoint_id = wanted.endpoint_id AND job_id = wanted.job_id AND created_at = wanted.created_at) h`;

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
