import type { DataSource, Logger } from 'typeorm';

/** A statement as the driver sent it. */
export interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** Neither read nor write rows. */
const CONTROL = /^\s*(START TRANSACTION|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET)\b/i;

const ignore = (): void => undefined;

class NotKept extends Error {}

/** Hears every statement that goes through a source. */
export class StatementRecorder implements Logger {
  readonly logQueryError = ignore;
  readonly logQuerySlow = ignore;
  readonly logSchemaBuild = ignore;
  readonly logMigration = ignore;
  readonly log = ignore;
  readonly #statements: Statement[] = [];

  /** From then on the source tells this recorder and nobody else. */
  constructor(source: DataSource) {
    source.logger = this;
  }

  logQuery(text: string, parameters: unknown = []): void {
    if (!CONTROL.test(text)) this.#statements.push({ text, parameters: parameters as unknown[] });
  }

  /**
   * What `action` sends. Done in a transaction that is then taken back, so that one action finds the rows as the others did.
   *
   * @param run opens the transaction that the action takes part in
   */
  async record(
    run: (inside: () => Promise<never>) => Promise<unknown>,
    action: () => Promise<unknown>,
  ): Promise<readonly Statement[]> {
    this.#statements.length = 0;
    try {
      await run(async () => {
        await action();
        throw new NotKept();
      });
    } catch (error) {
      if (!(error instanceof NotKept)) throw error;
    }
    return this.#statements.splice(0);
  }
}
