import { claimTry, newDelivery, settleTry, type Delivery, type DeliveryKey, type Job } from '@berth/domain';
import { claimDelivery, settleDelivery, type Deliveries } from '@berth/jobs';
import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '../clock/manual-clock.js';
import { SeededRandom } from '../clock/seeded-random.js';
import { eventually } from '../servers/eventually.js';
import { LONG_LIFE_MS, SHORT_LIFE_MS, type Open } from './conformance.js';
import { freshKey, runningJob } from './sample-job.js';

const NOW_MS = 1_750_000_000_000;

const endedJob = (attempt = 1, changes: Partial<Job> = {}): Job =>
  runningJob(freshKey(), {
    state: 'COMPLETED',
    attempt,
    endedAtMs: NOW_MS,
    webhook: 'https://example.com/hook?a=1',
    ...changes,
  });

const sampleDelivery = (job = endedJob()): Delivery => {
  const delivery = newDelivery(job, NOW_MS);
  if (delivery === null) throw new Error('the sample has a webhook and has ended');
  return delivery;
};

const keyOf = ({ endpointId, jobId, attempt }: Delivery): DeliveryKey => ({ endpointId, jobId, attempt });

/** What those who tell receivers rely on, of any store of deliveries. */
export function deliveriesConformance(name: string, open: Open<Deliveries>): void {
  describe(`${name} as deliveries`, () => {
    test('one that never was is not there', async () => {
      const { port } = await open();
      expect(await port.read({ ...freshKey(), attempt: 1 })).toBeNull();
      expect(await port.list(freshKey())).toEqual([]);
    });

    test('what is made is read back, every part of it', async () => {
      const { port } = await open();
      const delivery = sampleDelivery();
      await port.create(delivery, LONG_LIFE_MS);
      expect(await port.read(keyOf(delivery))).toEqual({ delivery, sequence: expect.any(Number) });
    });

    test('making it again changes nothing and is success', async () => {
      const { port } = await open();
      const delivery = sampleDelivery();
      await port.create(delivery, LONG_LIFE_MS);
      await port.create({ ...delivery, createdAtMs: NOW_MS + 1 }, LONG_LIFE_MS);
      expect(await port.read(keyOf(delivery))).toMatchObject({ delivery });
    });

    test('exactly the version named is replaced', async () => {
      const { port } = await open();
      const delivery = sampleDelivery();
      await port.create(delivery, LONG_LIFE_MS);
      const first = await port.read(keyOf(delivery));
      const verdict = claimTry(delivery, 'token', NOW_MS);
      if (verdict.kind !== 'claimed') throw new Error('it is due');
      expect(await port.replace(verdict.delivery, first!.sequence, LONG_LIFE_MS)).toMatchObject({ kind: 'written' });
      expect(await port.replace(verdict.delivery, first!.sequence, LONG_LIFE_MS)).toEqual({ kind: 'conflict' });
      expect(await port.read(keyOf(delivery))).toMatchObject({ delivery: verdict.delivery });
    });

    test('what is over is kept without the job', async () => {
      const { port } = await open();
      const delivery = sampleDelivery();
      const claimed = claimTry(delivery, 'token', NOW_MS);
      if (claimed.kind !== 'claimed') throw new Error('it is due');
      const result = { isSuccess: true, statusCode: 204, error: null };
      const over = settleTry(claimed.delivery, { token: 'token', result, fraction: 0 }, NOW_MS + 5);
      await port.create(delivery, LONG_LIFE_MS);
      const { sequence } = (await port.read(keyOf(delivery)))!;
      await port.replace(over!, sequence, LONG_LIFE_MS);
      const stored = await port.read(keyOf(delivery));
      expect(stored?.delivery).toEqual(over);
      expect(stored?.delivery.job).toBeNull();
    });

    test('lists the ends of one job, in the order of its attempts', async () => {
      const { port } = await open();
      const second = sampleDelivery(endedJob(2));
      const first = { ...second, attempt: 1 };
      const other = sampleDelivery();
      for (const each of [second, first, other]) await port.create(each, LONG_LIFE_MS);
      expect(await port.list(second)).toEqual([first, second]);
    });

    test('goes when its time is over', async () => {
      const { port, elapse } = await open();
      const delivery = sampleDelivery();
      await port.create(delivery, SHORT_LIFE_MS);
      await elapse(SHORT_LIFE_MS);
      await eventually(async () => {
        expect(await port.read(keyOf(delivery))).toBeNull();
      });
    });

    test('of many who claim at once one may try, and only it says how that ended', async () => {
      const { port } = await open();
      const delivery = sampleDelivery();
      await port.create(delivery, LONG_LIFE_MS);
      const clock = new ManualClock(NOW_MS);
      const senders = [1, 2, 3, 4].map((seed) => ({ deliveries: port, clock, random: new SeededRandom(seed) }));
      const outcomes = await Promise.all(senders.map((store) => claimDelivery(store, keyOf(delivery))));
      const claims = outcomes.filter((outcome) => outcome.kind === 'claimed');
      expect(claims).toHaveLength(1);
      const result = { isSuccess: false, statusCode: 500, error: 'no' };
      const stranger = { ...claims[0]!, token: 'other' };
      expect(await settleDelivery(senders[0]!, stranger, result)).toBeNull();
      const settled = await settleDelivery(senders[0]!, claims[0]!, result);
      expect(settled).toMatchObject({ claim: null, outcome: null, tries: [{ statusCode: 500, error: 'no' }] });
      expect((await port.read(keyOf(delivery)))?.delivery).toEqual(settled);
    });
  });
}
