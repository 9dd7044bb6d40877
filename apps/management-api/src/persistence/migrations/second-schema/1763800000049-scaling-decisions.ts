import { ForwardMigration } from '../../forward-migration.js';

/**
 * The decisions about an endpoint's workers of the last day, numbered by endpoint. The present one stays in
 * `endpoint_scaling`: loops read that with each pass, and this never.
 */
export class ScalingDecisions1763800000049 extends ForwardMigration {
  readonly name = 'ScalingDecisions1763800000049';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE scaling_decisions (
     endpoint_id text NOT NULL REFERENCES endpoints (id) ON DELETE CASCADE,
     ordinal bigint NOT NULL CHECK (ordinal >= 1),
     at timestamptz NOT NULL,
     desired_before integer NOT NULL CHECK (desired_before >= 0),
     desired integer NOT NULL CHECK (desired >= 0),
     reason text NOT NULL CONSTRAINT scaling_decisions_reason CHECK (reason <> ''),
     detail text NOT NULL,
     inputs jsonb NOT NULL CHECK (jsonb_typeof(inputs) = 'object'),
     outcome jsonb NOT NULL CHECK (jsonb_typeof(outcome) = 'object'),
     PRIMARY KEY (endpoint_id, ordinal)
   )`,
  `CREATE INDEX scaling_decisions_by_age ON scaling_decisions (at)`,
];
