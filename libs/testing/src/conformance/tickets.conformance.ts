import type { EndpointId, JobKey } from '@berth/domain';
import type { QueuedTicket, Ticket, Tickets } from '@berth/jobs';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../servers/eventually.js';
import { LONG_LIFE_MS, SHORT_LIFE_MS, type Open } from './conformance.js';
import { freshKey } from './sample-job.js';

const ticketFor = (key: JobKey, changes: Partial<Ticket> = {}): Ticket => ({
  ...key,
  attempt: 1,
  isLowPriority: false,
  notBeforeMs: 1_750_000_000_000,
  ...changes,
});

const sameEndpoint = ({ endpointId }: JobKey): JobKey => ({ ...freshKey(), endpointId });

const listAll = (
  tickets: Tickets,
  endpointId: EndpointId,
  query: { readonly isLowPriority?: boolean; readonly afterSequence?: number; readonly limit?: number } = {},
): Promise<readonly QueuedTicket[]> =>
  tickets.list({ endpointId, isLowPriority: false, afterSequence: 0, limit: 100, ...query });

const jobsOf = (queued: readonly QueuedTicket[]): string[] => queued.map(({ ticket }) => ticket.jobId);

/** What the dispatcher relies on, of any store of tickets. */
export function ticketsConformance(name: string, open: Open<Tickets>): void {
  describe(`${name} as tickets`, () => {
    test('an endpoint without tickets lists none', async () => {
      const { port } = await open();
      expect(await listAll(port, freshKey().endpointId)).toEqual([]);
    });

    test('a ticket comes back as it was put', async () => {
      const { port } = await open();
      const ticket = ticketFor(freshKey(), { attempt: 3, notBeforeMs: 1_750_000_009_999 });
      await port.put(ticket, LONG_LIFE_MS);
      expect(await listAll(port, ticket.endpointId)).toEqual([{ ticket, sequence: expect.any(Number) }]);
    });

    test('tickets are listed in the order in which they were put', async () => {
      const { port } = await open();
      const first = freshKey();
      const keys = [first, ...Array.from({ length: 40 }, () => sameEndpoint(first))];
      for (const key of keys) await port.put(ticketFor(key), LONG_LIFE_MS);
      const listed = await listAll(port, first.endpointId);
      expect(jobsOf(listed)).toEqual(keys.map(({ jobId }) => jobId));
      const sequences = listed.map(({ sequence }) => sequence);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    });

    test('every ticket that was put has its place up to the last sequence, and later ones behind it', async () => {
      const { port } = await open();
      const [first, second] = [freshKey(), freshKey()];
      await port.put(ticketFor(first), LONG_LIFE_MS);
      await port.put(ticketFor(first, { attempt: 2, isLowPriority: true }), LONG_LIFE_MS);
      const last = await port.lastSequence(first.endpointId);
      await port.put(ticketFor({ ...second, endpointId: first.endpointId }), LONG_LIFE_MS);
      const [normal, low] = await Promise.all([
        listAll(port, first.endpointId),
        listAll(port, first.endpointId, { isLowPriority: true }),
      ]);
      expect(normal.map(({ sequence }) => sequence <= last)).toEqual([true, false]);
      expect(low.map(({ sequence }) => sequence <= last)).toEqual([true]);
    });

    test('a ticket that is there already stays where it is', async () => {
      const { port } = await open();
      const [first, second] = [freshKey(), freshKey()];
      const later = { ...second, endpointId: first.endpointId };
      await port.put(ticketFor(first), LONG_LIFE_MS);
      await port.put(ticketFor(later), LONG_LIFE_MS);
      await port.put(ticketFor(first, { notBeforeMs: 5 }), LONG_LIFE_MS);
      const listed = await listAll(port, first.endpointId);
      expect(jobsOf(listed)).toEqual([first.jobId, later.jobId]);
      expect(listed[0]?.ticket.notBeforeMs).toBe(1_750_000_000_000);
    });

    test('another attempt of the same job is another ticket', async () => {
      const { port } = await open();
      const key = freshKey();
      await port.put(ticketFor(key), LONG_LIFE_MS);
      await port.put(ticketFor(key, { attempt: 2 }), LONG_LIFE_MS);
      const listed = await listAll(port, key.endpointId);
      expect(listed.map(({ ticket }) => ticket.attempt)).toEqual([1, 2]);
    });

    test('priorities and endpoints are listed apart', async () => {
      const { port } = await open();
      const normal = freshKey();
      const low = sameEndpoint(normal);
      const elsewhere = freshKey();
      await port.put(ticketFor(normal), LONG_LIFE_MS);
      await port.put(ticketFor(low, { isLowPriority: true }), LONG_LIFE_MS);
      await port.put(ticketFor(elsewhere), LONG_LIFE_MS);
      expect(jobsOf(await listAll(port, normal.endpointId))).toEqual([normal.jobId]);
      expect(jobsOf(await listAll(port, normal.endpointId, { isLowPriority: true }))).toEqual([low.jobId]);
      expect(jobsOf(await listAll(port, elsewhere.endpointId))).toEqual([elsewhere.jobId]);
    });

    test('a list goes on after a sequence and ends at its limit', async () => {
      const { port } = await open();
      const first = freshKey();
      const keys = [first, ...Array.from({ length: 9 }, () => sameEndpoint(first))];
      for (const key of keys) await port.put(ticketFor(key), LONG_LIFE_MS);
      const start = await listAll(port, first.endpointId, { limit: 4 });
      expect(jobsOf(start)).toEqual(keys.slice(0, 4).map(({ jobId }) => jobId));
      const rest = await listAll(port, first.endpointId, { afterSequence: start[3]!.sequence });
      expect(jobsOf(rest)).toEqual(keys.slice(4).map(({ jobId }) => jobId));
      expect(await listAll(port, first.endpointId, { afterSequence: rest.at(-1)!.sequence })).toEqual([]);
    });

    test('tickets are found among many of other endpoints, in order, from any place', async () => {
      const { port } = await open();
      const mine = freshKey();
      const others = Array.from({ length: 10 }, () => freshKey());
      const keys: JobKey[] = [];
      for (let round = 0; round < 30; round += 1) {
        await Promise.all(others.map((other) => port.put(ticketFor(sameEndpoint(other)), LONG_LIFE_MS)));
        const key = sameEndpoint(mine);
        keys.push(key);
        await port.put(ticketFor(key), LONG_LIFE_MS);
      }
      const all = await listAll(port, mine.endpointId);
      expect(jobsOf(all)).toEqual(keys.map(({ jobId }) => jobId));
      const middle = await listAll(port, mine.endpointId, { afterSequence: all[9]!.sequence, limit: 15 });
      expect(jobsOf(middle)).toEqual(keys.slice(10, 25).map(({ jobId }) => jobId));
    });

    test('a removed ticket is no longer listed, and its removal can be repeated', async () => {
      const { port } = await open();
      const [first, second] = [freshKey(), freshKey()];
      const later = { ...second, endpointId: first.endpointId };
      await port.put(ticketFor(first), LONG_LIFE_MS);
      await port.put(ticketFor(later), LONG_LIFE_MS);
      const [queued] = await listAll(port, first.endpointId);
      await port.remove(queued!);
      await port.remove(queued!);
      expect(jobsOf(await listAll(port, first.endpointId))).toEqual([later.jobId]);
    });

    test('a removed ticket can be put again, at the end', async () => {
      const { port } = await open();
      const [first, second] = [freshKey(), freshKey()];
      const later = { ...second, endpointId: first.endpointId };
      await port.put(ticketFor(first), LONG_LIFE_MS);
      await port.put(ticketFor(later), LONG_LIFE_MS);
      const [queued] = await listAll(port, first.endpointId);
      await port.remove(queued!);
      await port.put(ticketFor(first), LONG_LIFE_MS);
      // The old listing speaks of a place that is gone, not of the ticket that stands there now.
      await port.remove(queued!);
      expect(jobsOf(await listAll(port, first.endpointId))).toEqual([later.jobId, first.jobId]);
    });

    test('the ticket of one attempt is removed wherever it stands, and absent is success', async () => {
      const { port } = await open();
      const key = freshKey();
      await port.put(ticketFor(key), LONG_LIFE_MS);
      await port.put(ticketFor(key, { attempt: 2 }), LONG_LIFE_MS);
      await port.put(ticketFor(sameEndpoint(key), { isLowPriority: true }), LONG_LIFE_MS);
      await port.removeFor(key, 1, false);
      await port.removeFor(key, 1, false);
      await port.removeFor(freshKey(), 1, true);
      expect((await listAll(port, key.endpointId)).map(({ ticket }) => ticket.attempt)).toEqual([2]);
      expect(await listAll(port, key.endpointId, { isLowPriority: true })).toHaveLength(1);
    });

    test('a ticket expires by itself', async () => {
      const { port, elapse } = await open();
      const key = freshKey();
      await port.put(ticketFor(key), SHORT_LIFE_MS);
      await elapse(SHORT_LIFE_MS);
      await eventually(async () => expect(await listAll(port, key.endpointId)).toEqual([]));
      await port.put(ticketFor(key), LONG_LIFE_MS);
      expect(jobsOf(await listAll(port, key.endpointId))).toEqual([key.jobId]);
    });
  });
}
