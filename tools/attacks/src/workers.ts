import { systemClock } from '@berth/lifecycle';
import { request } from 'undici';
import type { Attack } from './attack.js';

/** What `workers/hostile` knows to do, in the order in which it is told to. */
const ORDERS = ['brackets', 'complaints', 'chunks', 'garbage', 'deep', 'freeze'] as const;
const ORDER_EVERY_MS = 1_500;
const CALL_MS = 10_000;

/** The attacker's tenant gives its own workers orders, faster than they carry them out. */
export const hostileWorkers: Attack = async ({ target: { runUrl, tenant }, signal, tally }) => {
  for (let n = 0; !signal.aborted; n += 1) {
    const attack = ORDERS[n % ORDERS.length] ?? ORDERS[0];
    try {
      const { body, statusCode } = await request(`${runUrl}/v2/${tenant.endpointId}/run`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ input: { attack } }),
        headersTimeout: CALL_MS,
        bodyTimeout: CALL_MS,
      });
      await body.dump();
      tally.note(`${attack} ${statusCode}`);
    } catch {
      tally.note('reset');
    }
    await systemClock.sleep(ORDER_EVERY_MS, signal);
  }
};
