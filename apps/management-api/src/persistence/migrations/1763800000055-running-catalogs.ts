import { ForwardMigration } from '../forward-migration.js';

/** With which hardware catalog each process of the control plane runs, as it says while it does. */
export class RunningCatalogs1763800000055 extends ForwardMigration {
  readonly name = 'RunningCatalogs1763800000055';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE running_catalogs (
     process text PRIMARY KEY CHECK (process <> ''),
     app text NOT NULL CHECK (app <> ''),
     digest text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
     file text CHECK (file <> ''),
     said_at timestamptz NOT NULL DEFAULT now()
   )`,
];
