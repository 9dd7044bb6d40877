import type { HostId } from '@berth/domain';
import type { Lease, LeaseKey, Leases } from '@berth/jobs';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../servers/eventually.js';
import type { Open } from './conformance.js';
import { freshKey } from './sample-job.js';

const leaseKey = (attempt = 1): LeaseKey => ({ ...freshKey(), attempt });
const LEASE: Lease = { token: 'token-1', hostId: 'host-1' as HostId };
const OTHER: Lease = { token: 'token-2', hostId: 'host-2' as HostId };

/**
 * What the owners of attempts rely on, of any store of leases.
 *
 * @param leaseMs how long a lease of the opened store lives
 */
export function leasesConformance(name: string, open: Open<Leases>, leaseMs: number): void {
  describe(`${name} as leases`, () => {
    test('a lease that never was is missing', async () => {
      const { port } = await open();
      expect(await port.read(leaseKey())).toEqual({ kind: 'missing' });
    });

    test('a lease written over nothing is live', async () => {
      const { port } = await open();
      const key = leaseKey();
      const sequence = await port.write(key, LEASE, 0);
      expect(sequence).toEqual(expect.any(Number));
      expect(await port.read(key)).toEqual({ kind: 'live', lease: LEASE, sequence });
    });

    test('a lease is renewed over exactly its version', async () => {
      const { port } = await open();
      const key = leaseKey();
      const first = await port.write(key, LEASE, 0);
      const second = await port.write(key, LEASE, first!);
      expect(second).toBeGreaterThan(first!);
      expect(await port.write(key, OTHER, first!)).toBeNull();
      expect(await port.write(key, OTHER, 0)).toBeNull();
      expect(await port.read(key)).toEqual({ kind: 'live', lease: LEASE, sequence: second });
    });

    test('a missing lease cannot be renewed as if it were there', async () => {
      const { port } = await open();
      const other = await port.write(leaseKey(), LEASE, 0);
      expect(await port.write(leaseKey(), LEASE, other!)).toBeNull();
    });

    test('each attempt has a lease of its own', async () => {
      const { port } = await open();
      const key = leaseKey(1);
      await port.write(key, LEASE, 0);
      const next = { ...key, attempt: 2 };
      expect(await port.read(next)).toEqual({ kind: 'missing' });
      expect(await port.write(next, OTHER, 0)).not.toBeNull();
      expect(await port.read(key)).toMatchObject({ lease: LEASE });
    });

    test('a removed lease is missing, and absent is success', async () => {
      const { port } = await open();
      const key = leaseKey();
      await port.write(key, LEASE, 0);
      await port.remove(key);
      await port.remove(key);
      expect(await port.read(key)).toEqual({ kind: 'missing' });
      expect(await port.write(key, LEASE, 0)).not.toBeNull();
    });

    test('a lease that is not renewed expires, and says so', async () => {
      const { port, elapse } = await open();
      const key = leaseKey();
      await port.write(key, LEASE, 0);
      await elapse(leaseMs);
      const state = await eventually(async () => {
        const read = await port.read(key);
        expect(read.kind).toBe('expired');
        return read;
      });
      expect(await port.write(key, LEASE, 0)).toBeNull();
      const sequence = state.kind === 'expired' ? state.sequence : 0;
      expect(await port.write(key, OTHER, sequence)).not.toBeNull();
      expect(await port.read(key)).toMatchObject({ kind: 'live', lease: OTHER });
    });
  });
}
