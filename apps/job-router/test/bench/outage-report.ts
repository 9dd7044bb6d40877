import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { Answer, JobClient } from './job-client.js';
import type { TestRouter } from './router-bench.js';

interface Report {
  readonly status: string;
  readonly dependencies: Readonly<Record<string, { readonly state: string; readonly reason?: string }>>;
  readonly degraded?: readonly string[];
}

/** What a router says of itself to its operator. */
export const readinessOf = async ({ operationsPort }: TestRouter): Promise<Report> =>
  (await (await fetch(`http://127.0.0.1:${operationsPort}/readyz`)).json()) as Report;

export const untilReady = (router: TestRouter): Promise<void> =>
  eventually(
    async () => {
      expect((await readinessOf(router)).status).toBe('ready');
    },
    { deadlineMs: 30_000 },
  );

/** Says what is missing and when to ask again, in the shape of every job path's error. */
export const expectOutage = (answer: Answer, detail: RegExp): void => {
  expect([answer.status, answer.body?.detail]).toEqual([503, expect.stringMatching(detail)]);
  expect(answer.body.type).toMatch(/\/problems\/service-unavailable$/);
  expect(answer.body).not.toHaveProperty('status');
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
};

export const expectAllFound = async (client: JobClient, ids: readonly string[]): Promise<void> => {
  const missing: string[] = [];
  for (const id of ids) if ((await client.status(id)).status !== 200) missing.push(id);
  expect(missing).toEqual([]);
};
