import pg from 'pg';

/** What the driver's method looks like from here. */
type Send = (this: unknown, ...given: unknown[]) => unknown;

/** Hears every statement that this process sends to PostgreSQL. */
export class StatementWatch {
  readonly #original = pg.Client.prototype.query as Send;
  readonly #heard: { readonly text: string; readonly parameters: string }[] = [];

  start(): void {
    const heard = this.#heard;
    const original = this.#original;
    const listening: Send = function (this: unknown, ...given) {
      const [text, parameters] = given;
      if (typeof text === 'string') heard.push({ text, parameters: JSON.stringify(parameters ?? []) });
      return original.apply(this, given);
    };
    pg.Client.prototype.query = listening as typeof pg.Client.prototype.query;
  }

  stop(): void {
    pg.Client.prototype.query = this.#original as typeof pg.Client.prototype.query;
  }

  /**
   * The statements of `action` about this id, in their order. Whatever runs in the background meanwhile names other ids,
   * or none.
   */
  async during(id: string, action: () => Promise<void>): Promise<readonly string[]> {
    return this.#heardDuring(`"${id}"`, action);
  }

  /** Like `during`, for ids that begin with the mark. */
  duringMarked(mark: string, action: () => Promise<void>): Promise<readonly string[]> {
    return this.#heardDuring(`"${mark}`, action);
  }

  async #heardDuring(text: string, action: () => Promise<void>): Promise<readonly string[]> {
    this.#heard.length = 0;
    await action();
    return this.#heard.filter(({ parameters }) => parameters.includes(text)).map((statement) => statement.text);
  }
}
