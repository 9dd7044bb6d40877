import { ForwardMigration } from '../forward-migration.js';

/** Nodes whose hosts an operator removed: their agents may not join by themselves until they are let in again. */
export class RemovedNodes1763800000063 extends ForwardMigration {
  readonly name = 'RemovedNodes1763800000063';
  protected readonly statements = STATEMENTS;
}

const STATEMENTS: readonly string[] = [
  `CREATE TABLE removed_nodes (
     host_id text PRIMARY KEY CHECK (host_id <> ''),
     name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
     data_center_id text NOT NULL CHECK (data_center_id <> ''),
     removed_at timestamptz NOT NULL
   )`,
];
