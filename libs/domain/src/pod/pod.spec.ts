import { describe, expect, test } from '@jest/globals';
import type { ClusterId, PodId } from '../ids.js';
import { summarizeCluster, type ClusterMember } from './cluster.js';
import { POD_STATUSES, podActions, podCounts, type PodStatus } from './pod-status.js';
import { presentCostUsdPerHour, sshCommand, uptimeSeconds } from './pod.js';

describe('a pod', () => {
  test.each<[PodStatus, readonly string[]]>([
    ['PROVISIONING', ['stop', 'terminate']],
    ['STARTING', ['stop', 'terminate']],
    ['RUNNING', ['stop', 'restart', 'terminate']],
    ['EXITED', ['start', 'terminate']],
    ['ERROR', ['start', 'terminate']],
    ['TERMINATED', []],
  ])('that is %s takes %j', (status, actions) => {
    expect(podActions(status)).toEqual(actions);
  });

  test('costs nothing once it has stopped', () => {
    const costs = POD_STATUSES.map((status) => presentCostUsdPerHour({ costUsdPerHour: 2.5, status }));
    expect(costs).toEqual([2.5, 2.5, 2.5, 0, 2.5, 0]);
  });

  test.each([
    [null, 5_000, 0],
    [5_000, 5_000, 0],
    [5_000, 65_999, 60],
    [5_000, 4_000, 0],
  ])('started at %s has run at %d for %d s', (startedAtMs, nowMs, seconds) => {
    expect(uptimeSeconds(startedAtMs, nowMs)).toBe(seconds);
  });

  test('is connected to with one command', () => {
    const address = { host: 'ssh.example.com', port: 22, username: 'p1' };
    expect(sshCommand(address)).toBe('ssh p1@ssh.example.com');
    expect(sshCommand({ ...address, port: 40_022 })).toBe('ssh p1@ssh.example.com -p 40022');
  });
});

test('pods are counted by the statuses that there are', () => {
  expect(podCounts([])).toEqual({ total: 0, byStatus: {} });
  const pods = (['RUNNING', 'PROVISIONING', 'RUNNING'] as const).map((status) => ({ status }));
  expect(podCounts(pods)).toEqual({ total: 3, byStatus: { PROVISIONING: 1, RUNNING: 2 } });
});

describe('the summary of a cluster', () => {
  const member = (rank: number | null, fields: Partial<ClusterMember> = {}): ClusterMember => ({
    id: `p${rank}` as PodId,
    clusterId: 'c' as ClusterId,
    status: 'PROVISIONING',
    dataCenterId: null,
    sshDirect: null,
    rank,
    ...fields,
  });
  const sshDirect = { host: '192.0.2.1', port: 40_022, username: 'root' };

  test('says nothing of a place or a primary before a pod is placed', () => {
    expect(summarizeCluster([member(0), member(1)])).toEqual({
      pods: { total: 2, byStatus: { PROVISIONING: 2 } },
      dataCenterId: null,
      primary: null,
    });
  });

  test.each<[string, Partial<ClusterMember>, string | null]>([
    ['runs with SSH', { status: 'RUNNING', sshDirect }, '192.0.2.1:40022'],
    ['runs without SSH', { status: 'RUNNING' }, null],
    ['does not run yet', { status: 'STARTING', sshDirect }, null],
  ])('tells how to reach a primary that %s', (...[, fields, sshEndpoint]) => {
    const placed = { dataCenterId: 'LOCAL-1' };
    const { dataCenterId, primary } = summarizeCluster([member(1, placed), member(0, { ...placed, ...fields })]);
    expect(dataCenterId).toBe('LOCAL-1');
    expect(primary).toEqual({ podId: 'p0', status: fields.status, sshEndpoint });
  });
});
