import { expect, test } from '@jest/globals';
import { useManagementApi } from '../management-bench.js';

const QUOTA = 5;

const bench = useManagementApi({
  environment: { BERTH_RATE_LIMIT_MINUTE: 'off', BERTH_RATE_LIMIT_HOUR: 'off', BERTH_RATE_LIMIT_DAY: String(QUOTA) },
});

const ask = async (key: string): Promise<{ status: number; left: string | null }> => {
  const { headers, status } = await bench.call('GET /v2/templates', { key });
  return { status, left: /r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? null };
};

test('an account that has spent its requests takes none from another, whichever of its keys it asks with', async () => {
  const [spender, other] = [await bench.newAccount('spender'), await bench.newAccount('other')];
  const second = await bench.newKey(['templates:read'], { maker: spender });
  for (let used = 2; used <= QUOTA; used += 1) {
    expect(await ask(used % 2 === 0 ? spender : second)).toEqual({ status: 200, left: String(QUOTA - used) });
  }
  expect(await ask(spender)).toEqual({ status: 429, left: '0' });
  expect(await ask(second)).toEqual({ status: 429, left: '0' });
  expect(await ask(other)).toEqual({ status: 200, left: String(QUOTA - 1) });
});

test('requests without a good key are counted for nobody', async () => {
  const key = await bench.newAccount('bystander');
  const stranger = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  for (let round = 0; round < QUOTA + 1; round += 1) expect((await ask(stranger)).status).toBe(401);
  expect(await ask(key)).toEqual({ status: 200, left: String(QUOTA - 1) });
});
