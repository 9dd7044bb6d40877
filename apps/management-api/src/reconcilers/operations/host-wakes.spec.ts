import type { WakeMessage } from '@berth/contracts';
import type { FleetOperation, HostId, WorkerId } from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { HostWakes } from './host-wakes.js';

const of = (hostId: string, workerId: string) => ({ hostId: hostId as HostId, workerId: workerId as WorkerId });
const resume = (hostId: string, workerId: string): FleetOperation => ({
  ...of(hostId, workerId),
  ...{ kind: 'resume-worker', reason: 'wanted' },
});
const pause = (hostId: string, workerId: string): FleetOperation => ({
  ...of(hostId, workerId),
  ...{ kind: 'pause-worker', reason: 'scale-down', pausesAfterIdleMs: 1 },
});

let wakes: HostWakes;
let sent: (readonly [string, WakeMessage])[];
const send = (): void => {
  wakes.send({ wake: (hostId, message) => sent.push([hostId, message]) });
};

beforeEach(() => {
  wakes = new HostWakes();
  sent = [];
});

describe('the wakes of hosts', () => {
  test('name who runs again, and say whether that is all', () => {
    wakes.note(resume('h1', 'w1'));
    wakes.note(resume('h2', 'w2'));
    wakes.note(pause('h2', 'w3'));
    send();
    expect(sent).toEqual([
      ['h1', { resumedIds: ['w1'], isAll: true }],
      ['h2', { resumedIds: ['w2'] }],
    ]);
  });

  test('are kept until they are sent, and sent once', () => {
    wakes.note(resume('h1', 'w1'));
    wakes.note(pause('h1', 'w1'));
    send();
    send();
    expect(sent).toEqual([['h1', { resumedIds: [] }]]);
  });
});
