import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { Answer, JobClient } from './job-client.js';

const TRY_AGAIN = { deadlineMs: 60_000, intervalMs: 100 };

/**
 * Callers of one endpoint, each of whom submits a job and asks until it has completed, again and again. Told to come
 * again they do, with the same request.
 */
export class JobLoad {
  /** Ids of the jobs that were read as completed. */
  readonly completed: string[] = [];
  /** Answers that told a caller to come again. */
  readonly outages: Answer[] = [];
  /** What no caller should hear: any other refusal, an end that is none, an attempt that was charged. */
  readonly surprises: string[] = [];
  readonly #callers: Promise<unknown>;
  #isOver = false;

  constructor(callers: readonly JobClient[]) {
    this.#callers = Promise.all(callers.map((client, place) => this.#call(client, place)));
  }

  /** So many jobs more have completed. */
  async progress(jobs: number): Promise<void> {
    const before = this.completed.length;
    await eventually(() => {
      const isOver = this.completed.length >= before + jobs || this.surprises.length > 0;
      expect({ isOver, completed: this.completed.length }).toMatchObject({ isOver: true });
    }, TRY_AGAIN);
    expect(this.surprises).toEqual([]);
  }

  /** Every caller ends with the job that it has. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#callers;
  }

  async #call(client: JobClient, place: number): Promise<void> {
    for (let nth = 0; !this.#isOver && this.surprises.length === 0; nth += 1) {
      const headers = { 'idempotency-key': `${place}-${nth}` };
      try {
        const { body } = await this.#answered(() => client.post('/run', { input: { nth } }, { headers }));
        await this.#awaitEnd(client, body.id as string);
      } catch (error) {
        this.surprises.push(String(error));
      }
    }
  }

  async #awaitEnd(client: JobClient, id: string): Promise<void> {
    const { body, text } = await eventually(async () => {
      const answer = await this.#answered(() => client.status(id));
      expect(answer.body?.status).not.toMatch(/^IN_/);
      return answer;
    }, TRY_AGAIN);
    if (body?.status !== 'COMPLETED' || 'retries' in body) this.surprises.push(text);
    this.completed.push(id);
  }

  async #answered(ask: () => Promise<Answer>): Promise<Answer> {
    const answer = await eventually(async () => {
      const told = await ask();
      if (told.status === 503) this.outages.push(told);
      expect(told.status).not.toBe(503);
      return told;
    }, TRY_AGAIN);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    return answer;
  }
}
