import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Statements in their order. Forward only: a schema that is out in the world is changed by the next migration, never taken back. */
export abstract class ForwardMigration implements MigrationInterface {
  /** Ends in the stamp that orders it among the others. */
  abstract readonly name: string;
  protected abstract readonly statements: readonly string[];

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of this.statements) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward.'));
  }
}
