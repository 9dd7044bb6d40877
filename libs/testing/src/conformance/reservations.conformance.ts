import type { JobId } from '@berth/domain';
import type { Reservation, ReservationKey, Reservations } from '@berth/jobs';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../servers/eventually.js';
import { LONG_LIFE_MS, SHORT_LIFE_MS, type Open } from './conformance.js';
import { freshKey } from './sample-job.js';

const newKey = (): ReservationKey => {
  const { endpointId, jobId } = freshKey();
  return { endpointId, name: jobId };
};

const sample = (changes: Partial<Reservation> = {}): Reservation => ({
  firstId: 'job-1' as JobId,
  size: 3,
  missing: [0, 1, 2],
  fingerprint: 'v1.00000000.abc',
  createdAtMs: 1_750_000_000_000,
  ...changes,
});

/** What a request with an idempotency key relies on, of any store of reservations. */
export function reservationsConformance(name: string, open: Open<Reservations>): void {
  describe(`${name} as reservations`, () => {
    test('one that never was reads as none', async () => {
      const { port } = await open();
      expect(await port.read(newKey())).toBeNull();
    });

    test('every member comes back as it was written', async () => {
      const { port } = await open();
      const key = newKey();
      const sequence = await create(port, key);
      expect(await port.read(key)).toEqual({ reservation: sample(), sequence });
    });

    test('of many that create one at once exactly one succeeds', async () => {
      const { port } = await open();
      const key = newKey();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, n) => port.create(key, sample({ firstId: `job-${n}` as JobId }), LONG_LIFE_MS)),
      );
      const kinds = outcomes.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'written')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'conflict')).toHaveLength(19);
      expect((await port.read(key))?.reservation.firstId).toBe(`job-${kinds.indexOf('written')}`);
    });

    test('it is replaced over exactly the version named', async () => {
      const { port } = await open();
      const key = newKey();
      const first = await create(port, key);
      const next = { reservation: sample({ missing: [2] }), sequence: first };
      expect(await port.replace(key, next, LONG_LIFE_MS)).toEqual({ kind: 'written', sequence: expect.any(Number) });
      expect(await port.replace(key, { ...next, reservation: sample() }, LONG_LIFE_MS)).toEqual({ kind: 'conflict' });
      expect((await port.read(key))?.reservation.missing).toEqual([2]);
    });

    test('the same name at another endpoint is another one', async () => {
      const { port } = await open();
      const key = newKey();
      await create(port, key);
      const other = { ...key, endpointId: newKey().endpointId };
      expect(await port.read(other)).toBeNull();
      await create(port, other);
    });

    test('it expires by itself, and its key is free again', async () => {
      const { port, elapse } = await open();
      const key = newKey();
      await create(port, key, SHORT_LIFE_MS);
      await elapse(SHORT_LIFE_MS);
      await eventually(async () => expect(await port.read(key)).toBeNull());
      await create(port, key);
    });
  });
}

async function create(port: Reservations, key: ReservationKey, ttlMs = LONG_LIFE_MS): Promise<number> {
  const outcome = await port.create(key, sample(), ttlMs);
  if (outcome.kind !== 'written') throw new Error(`not created: ${outcome.kind}`);
  return outcome.sequence;
}
