import { HOST_LOST_MS, isHostLost } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { HearingWatch } from './hearing-watch.js';

const START_MS = 1_000_000;
const heard = (...lastSeenAtMs: (number | null)[]) => lastSeenAtMs.map((each) => ({ lastSeenAtMs: each }));

describe('hearing', () => {
  test('goes on since the start while any host is heard', () => {
    const watch = new HearingWatch(START_MS);
    for (let nowMs = START_MS; nowMs < START_MS + 60_000; nowMs += 1_000) {
      expect(watch.observe(heard(START_MS, nowMs - 5_000, null), nowMs)).toBe(START_MS);
    }
  });

  test('begins anew while nobody is heard at all: then it is the listener who is away', () => {
    const watch = new HearingWatch(START_MS);
    for (let nowMs = START_MS; nowMs <= START_MS + 60_000; nowMs += 1_000) watch.observe(heard(START_MS), nowMs);
    const backMs = START_MS + 61_000;
    const sinceMs = watch.observe(heard(START_MS, backMs), backMs);
    expect(sinceMs).toBe(START_MS + 60_000);
    expect(isHostLost({ lastSeenAtMs: START_MS }, sinceMs, backMs)).toBe(false);
  });

  test('begins anew after a pause of the loop: the first host that is recorded again does not vouch for the time before', () => {
    const watch = new HearingWatch(START_MS);
    watch.observe(heard(START_MS, START_MS), START_MS);
    const backMs = START_MS + 40_000;
    const sinceMs = watch.observe(heard(START_MS, backMs), backMs);
    expect(sinceMs).toBe(backMs);
    expect(isHostLost({ lastSeenAtMs: START_MS }, sinceMs, backMs)).toBe(false);
    expect(isHostLost({ lastSeenAtMs: START_MS }, sinceMs, backMs + HOST_LOST_MS)).toBe(true);
  });

  test('calls one silent host of several lost in time', () => {
    const watch = new HearingWatch(START_MS);
    let lostAtMs = 0;
    for (let nowMs = START_MS; lostAtMs === 0; nowMs += 1_000) {
      const sinceMs = watch.observe(heard(START_MS, nowMs), nowMs);
      if (isHostLost({ lastSeenAtMs: START_MS }, sinceMs, nowMs)) lostAtMs = nowMs;
    }
    expect(lostAtMs).toBe(START_MS + HOST_LOST_MS);
  });

  test('without any host has nothing to say', () => {
    expect(new HearingWatch(START_MS).observe([], START_MS + 5_000)).toBe(START_MS + 5_000);
  });
});
