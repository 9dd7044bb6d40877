import { describe, expect, test } from '@jest/globals';
import { HOST_LOST_MS, isHostLost } from '../host/index.js';
import { newFleetMemory, observingSinceMs } from './fleet-memory.js';

const START_MS = 1_000_000;
const heard = (...lastSeenAtMs: (number | null)[]) => lastSeenAtMs.map((each) => ({ lastSeenAtMs: each }));

/** One look after the other, each with what the one before has left. */
function looks() {
  let memory = newFleetMemory(START_MS);
  return (hosts: ReturnType<typeof heard>, nowMs: number): number => {
    const sinceMs = observingSinceMs(memory, hosts, nowMs);
    memory = { ...memory, observingSinceMs: sinceMs, lastLookMs: nowMs };
    return sinceMs;
  };
}

describe('hearing', () => {
  test('goes on since the start while any host is heard', () => {
    const look = looks();
    for (let nowMs = START_MS; nowMs < START_MS + 60_000; nowMs += 1_000) {
      expect(look(heard(START_MS, nowMs - 5_000, null), nowMs)).toBe(START_MS);
    }
  });

  test('begins anew while no host is heard at all: then it is the listener who is away', () => {
    const look = looks();
    for (let nowMs = START_MS; nowMs <= START_MS + 60_000; nowMs += 1_000) look(heard(START_MS), nowMs);
    const backMs = START_MS + 61_000;
    const sinceMs = look(heard(START_MS, backMs), backMs);
    expect(sinceMs).toBe(START_MS + 60_000);
    expect(isHostLost({ lastSeenAtMs: START_MS }, sinceMs, backMs)).toBe(false);
  });

  test('begins anew after a pause of the loop: the first host that is recorded again does not vouch for the time before', () => {
    const look = looks();
    look(heard(START_MS, START_MS), START_MS);
    const backMs = START_MS + 40_000;
    const sinceMs = look(heard(START_MS, backMs), backMs);
    expect(sinceMs).toBe(backMs);
    expect(isHostLost({ lastSeenAtMs: START_MS }, sinceMs, backMs)).toBe(false);
    expect(isHostLost({ lastSeenAtMs: START_MS }, sinceMs, backMs + HOST_LOST_MS)).toBe(true);
  });

  test('calls one silent host of several lost in time', () => {
    const look = looks();
    let lostAtMs = 0;
    for (let nowMs = START_MS; lostAtMs === 0; nowMs += 1_000) {
      const sinceMs = look(heard(START_MS, nowMs), nowMs);
      if (isHostLost({ lastSeenAtMs: START_MS }, sinceMs, nowMs)) lostAtMs = nowMs;
    }
    expect(lostAtMs).toBe(START_MS + HOST_LOST_MS);
  });

  test('without any host has nothing to say', () => {
    expect(looks()([], START_MS + 5_000)).toBe(START_MS + 5_000);
  });
});
