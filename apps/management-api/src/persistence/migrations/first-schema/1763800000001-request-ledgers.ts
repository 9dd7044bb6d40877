import { ForwardMigration } from '../../forward-migration.js';

/** The traces of requests: how many an account has made, and the answers to those with an idempotency key. */
export class RequestLedgers1763800000001 extends ForwardMigration {
  readonly name = 'RequestLedgers1763800000001';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  // Half of each page stays free: a row is written by every request, and finds room beside its last version.
  `CREATE TABLE rate_windows (
     account_id text PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
     at timestamptz NOT NULL,
     minute_used integer NOT NULL CHECK (minute_used >= 0),
     hour_used integer NOT NULL CHECK (hour_used >= 0),
     day_used integer NOT NULL CHECK (day_used >= 0),
     is_admitted boolean NOT NULL
   ) WITH (fillfactor = 50)`,
  `CREATE TABLE idempotency_keys (
     account_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
     route text NOT NULL CHECK (route ~ '^[A-Z]+ /'),
     key text NOT NULL CHECK (key ~ '^[!-~]{1,255}$'),
     status integer CHECK (status BETWEEN 200 AND 299),
     sealed text CHECK (sealed ~ '^v1\\.[0-9a-f]{8}\\.[A-Za-z0-9_-]+$' AND octet_length(sealed) <= 4194304),
     tag text,
     expires_at timestamptz NOT NULL,
     PRIMARY KEY (account_id, route, key),
     CHECK ((status IS NULL) = (sealed IS NULL)),
     CHECK (tag IS NULL OR sealed IS NOT NULL)
   )`,
  `CREATE INDEX idempotency_keys_by_end ON idempotency_keys (expires_at)`,
];
