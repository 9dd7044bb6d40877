import { expect, test } from '@jest/globals';
import { HostSessionsController } from './host-sessions.controller.js';
import type { HostSessionsService } from './host-sessions-service.js';
import type { HostId } from '@berth/domain';

const FRAME = { secret: 's', instanceId: 'i', sequence: 1 };

/** Counts who looks into what a host says of itself. */
function watched(): { readonly body: object; readonly reads: string[] } {
  const reads: string[] = [];
  const body = { ...FRAME, token: 'bjt_h_s', secretHash: 'a'.repeat(64) };
  for (const name of ['inventory', 'workers', 'unknown']) {
    Object.defineProperty(body, name, {
      enumerable: true,
      get: () => {
        reads.push(name);
        return {};
      },
    });
  }
  return { body, reads };
}

test('nothing that a host says of itself is looked at before it is known to be that host', async () => {
  const refuse = (): Promise<never> => Promise.reject(new Error('not this one'));
  const sessions = { admitJoin: refuse, admitReport: refuse } as unknown as HostSessionsService;
  const controller = new HostSessionsController(sessions);
  const { body, reads } = watched();
  await expect(controller.join('h' as HostId, body)).rejects.toThrow('not this one');
  await expect(controller.report('h' as HostId, body)).rejects.toThrow('not this one');
  expect(reads).toEqual([]);
});

test('nothing of a report is looked at that a newer one of the same start has made worthless', async () => {
  const told = { desired: [], dataCenterId: 'EU-1' };
  const sessions = {
    admitReport: () => Promise.resolve('outdated'),
    tellDesired: () => Promise.resolve(told),
  } as unknown as HostSessionsService;
  const { body, reads } = watched();
  expect(await new HostSessionsController(sessions).report('h' as HostId, body)).toBe(told);
  expect(reads).toEqual([]);
});
