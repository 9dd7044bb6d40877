import { ClusterError } from '@berth/cluster-api';
import type { AccountId, EndpointId, Placeholder, Shortage } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { LeaderTerm } from '../leadership/index.js';
import { PlaceholderLoop } from './placeholder-loop.js';

const INTERVAL_MS = 5_000;
const WANTS = { vcpus: 2, memoryBytes: 4, diskBytes: 10, gpuCount: 0, gpuTypeIds: [] };
const short = (count: number, whose = '1'): Shortage => ({
  ...{ endpointId: `e${whose}` as EndpointId, accountId: `a${whose}` as AccountId, count, sinceMs: 0 },
  wants: WANTS,
});
const OVER_QUOTA = new ClusterError(403, 'exceeded quota: workers');

function start({ isAway = false } = {}) {
  const clock = new ManualClock();
  const registry = new MetricRegistry();
  const state = { isLeader: true, writesLeft: 100, isAway, shortages: [short(2)] as readonly Shortage[] | null };
  const pods = new Map<string, Placeholder>();
  /** What the cluster says to a write of this name in place of carrying it out. */
  const faults = new Map<string, Error>();
  const write = (name: string, act: () => void): Promise<void> => {
    state.writesLeft -= 1;
    const fault = faults.get(name);
    if (fault !== undefined) return Promise.reject(fault);
    act();
    return Promise.resolve();
  };
  const term: LeaderTerm = { name: 'controllers', number: 1, isOver: () => state.writesLeft <= 0 };
  const loop = new PlaceholderLoop({
    lease: { isLeader: () => state.isLeader, currentTerm: () => term },
    shortages: () => state.shortages,
    cluster: {
      list: () =>
        state.isAway
          ? Promise.reject(new Error('nobody answers'))
          : Promise.resolve([...pods.values()].map((pod) => ({ ...pod, isScheduled: false }))),
      create: ({ name, wants }) => write(name, () => pods.set(name, { name, wants, isOver: false })),
      remove: (name) => write(name, () => pods.delete(name)),
    },
    ...{ bounds: { max: 5, accountMax: 5 }, clock, logger: silentLogger, metrics: registry },
  });
  loop.start();
  const pass = async (): Promise<readonly string[]> => {
    await clock.advance(INTERVAL_MS);
    await letRun();
    return [...pods.keys()];
  };
  const end = (name: string): void => void pods.set(name, { ...(pods.get(name) as Placeholder), isOver: true });
  return { end, faults, loop, pass, pods, registry, state };
}

describe('placeholders', () => {
  test('come and go with what is short', async () => {
    const { loop, pass, registry, state } = start();
    expect(await pass()).toEqual(['placeholder-e1-0', 'placeholder-e1-1']);
    state.shortages = [short(1)];
    expect(await pass()).toEqual(['placeholder-e1-0']);
    state.shortages = [];
    expect(await pass()).toEqual([]);
    expect(await registry.text()).toContain('berth_controllers_placeholder_changes_total{change="removed"} 2');
    await loop.stop();
  });

  test('that their nodes have refused are made anew, and are counted neither as waiting nor as scheduled', async () => {
    const { end, loop, pass, pods, registry } = start();
    await pass();
    end('placeholder-e1-0');
    expect(await pass()).toEqual(['placeholder-e1-1']);
    expect(await registry.text()).toContain('berth_controllers_placeholders{state="waiting"} 1');
    expect(await pass()).toHaveLength(2);
    expect(pods.get('placeholder-e1-0')).toMatchObject({ isOver: false });
    await loop.stop();
  });

  test('stay as they are where nobody knows what is short, or another leads', async () => {
    const { loop, pass, registry, state } = start();
    await pass();
    state.shortages = null;
    expect(await pass()).toHaveLength(2);
    Object.assign(state, { shortages: [], isLeader: false });
    expect(await pass()).toHaveLength(2);
    expect(await registry.text()).not.toContain('berth_controllers_placeholders{');
    await loop.stop();
  });

  test('are not written by a leader whose term has ended in the middle of a pass', async () => {
    const { loop, pass, state } = start();
    state.writesLeft = 1;
    expect(await pass()).toEqual(['placeholder-e1-0']);
    await loop.stop();
  });

  test('are seen to again by the next pass where the cluster was away', async () => {
    const { loop, pass, registry, state } = start({ isAway: true });
    expect(await pass()).toEqual([]);
    state.isAway = false;
    expect(await pass()).toHaveLength(2);
    expect(await registry.text()).toMatch(/berth_controllers_placeholder_failures_total [1-9]/);
    await loop.stop();
  });

  test('that the cluster refuses hold up nobody else, and are asked for again', async () => {
    const { faults, loop, pass, registry, state } = start();
    state.shortages = [short(1), short(1, '2')];
    faults.set('placeholder-e1-0', OVER_QUOTA);
    expect(await pass()).toEqual(['placeholder-e2-0']);
    expect(await registry.text()).toMatch(/berth_controllers_placeholder_failures_total [1-9]/);
    faults.clear();
    expect(await pass()).toEqual(['placeholder-e2-0', 'placeholder-e1-0']);
    await loop.stop();
  });

  test('that the cluster will not remove hold up neither removals nor others', async () => {
    const { faults, loop, pass, state } = start();
    await pass();
    faults.set('placeholder-e1-0', new ClusterError(403, 'forbidden by a webhook'));
    state.shortages = [short(1, '2')];
    expect(await pass()).toEqual(['placeholder-e1-0', 'placeholder-e2-0']);
    await loop.stop();
  });

  test.each([
    ['does not answer', new Error('nobody answers')],
    ['is beside itself', new ClusterError(503, 'the server is currently unable to handle the request')],
    ['has too much to do', new ClusterError(429, 'too many requests')],
  ])('are left to the next pass where the cluster %s: each would have to wait for it', async (_, fault) => {
    const { faults, loop, pass, state } = start();
    state.shortages = [];
    await pass();
    state.shortages = [short(1), short(1, '2')];
    faults.set('placeholder-e1-0', fault);
    const before = state.writesLeft;
    expect(await pass()).toEqual([]);
    expect(before - state.writesLeft).toBe(1);
    await loop.stop();
  });

  test('are not written after a refusal by a leader whose term has ended meanwhile', async () => {
    const { faults, loop, pass, state } = start();
    faults.set('placeholder-e1-0', OVER_QUOTA);
    state.writesLeft = 1;
    expect(await pass()).toEqual([]);
    await loop.stop();
  });
});
