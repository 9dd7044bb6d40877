import { ForwardMigration } from '../../forward-migration.js';

/**
 * What the control loops remember of an endpoint beside the decision: how the workers of its latest release start, and how
 * many wanted workers have no place, of which `waiting` names the first.
 */
export class ReleaseStarts1763800000048 extends ForwardMigration {
  readonly name = 'ReleaseStarts1763800000048';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `ALTER TABLE endpoint_scaling
     ADD COLUMN unplaced integer NOT NULL DEFAULT 0 CONSTRAINT endpoint_scaling_unplaced CHECK (unplaced >= 0),
     ADD COLUMN starts jsonb CONSTRAINT endpoint_scaling_starts CHECK (jsonb_typeof(starts) = 'object')`,
];
