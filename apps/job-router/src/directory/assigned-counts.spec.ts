import type { AssignmentSnapshot } from '@berth/contracts';
import type { EndpointId, HostId, WorkerId, WorkerPhase } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { countAssigned, placementOf } from './assigned-counts.js';

const HOST = 'host' as HostId;
const assignment = (...phases: readonly [WorkerPhase, isDraining?: boolean][]): AssignmentSnapshot => ({
  endpointId: 'ep' as EndpointId,
  workers: phases.map(([phase, isDraining = false], n) => ({
    id: `w${n}` as WorkerId,
    hostId: HOST,
    phase,
    isDraining,
  })),
});

describe('the workers of /health', () => {
  test('no assignment means none', () => {
    expect(countAssigned(null)).toEqual({ idle: 0, running: 0, initializing: 0, ready: 0, throttled: 0, unhealthy: 0 });
  });

  test('each phase has its count; ready are those that take jobs', () => {
    const counts = countAssigned(
      assignment(
        ['idle'],
        ['idle', true],
        ['busy'],
        ['draining'],
        ['preparing'],
        ['starting'],
        ['waiting'],
        ['unhealthy'],
        ['removed'],
      ),
    );
    expect(counts).toEqual({ idle: 2, running: 2, initializing: 3, ready: 2, throttled: 0, unhealthy: 1 });
  });
});

test('wanted workers without a place are throttled', () => {
  const unplaced = { count: 3, reason: 'vcpu', detail: '', sinceMs: 0, hosts: [] };
  const outlook = { desired: 3, scaling: { reason: 'demand', sinceMs: 0 }, coming: [], unplaced };
  expect(countAssigned({ ...assignment(), outlook })).toMatchObject({ throttled: 3, initializing: 0 });
});

describe('the place of a worker', () => {
  const worker = { hostId: HOST, workerId: 'w0' as WorkerId };

  test.each([
    ['placed', assignment(['idle']), worker],
    ['draining', assignment(['idle', true]), worker],
    ['not-placed', assignment(['idle']), { ...worker, hostId: 'other' as HostId }],
    ['not-placed', assignment(['idle']), { ...worker, workerId: 'other' as WorkerId }],
    ['not-placed', null, worker],
    ['not-placed', undefined, worker],
  ] as const)('%s', (placement, snapshot, asked) => {
    expect(placementOf(snapshot, asked)).toBe(placement);
  });
});
