import type { DemandMessage } from '@berth/contracts';
import type { EndpointId, JobId } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { COMPLETE_INTERVAL_MS, DEBOUNCE_MS, DemandPublisher } from './demand-publisher.service.js';
import { JobView } from './job-view.service.js';

let clock: ManualClock;
let view: JobView;
let isWhole: boolean;
let sent: DemandMessage[];

beforeEach(() => {
  clock = new ManualClock();
  view = new JobView();
  isWhole = true;
  sent = [];
  new DemandPublisher({
    view,
    clock,
    routerId: 'router',
    feed: {
      get isWhole() {
        return isWhole;
      },
      publishDemand: (message) => sent.push(message),
    },
  }).start();
});

const queue = (endpoint: string, job: string): void => {
  view.apply({
    endpointId: endpoint as EndpointId,
    jobId: job as JobId,
    recordSequence: 1,
    state: 'IN_QUEUE',
    attempt: 1,
    charged: 0,
    isLowPriority: false,
    hasWebhook: false,
    createdAtMs: clock.nowMs(),
    queuedAtMs: clock.nowMs(),
    notBeforeMs: clock.nowMs(),
    expiresAtMs: clock.nowMs() + 3_600_000,
    startedAtMs: null,
    endedAtMs: null,
    deadlineAtMs: null,
    hostId: null,
    token: null,
  });
};

describe('demand', () => {
  test('changes go out together, almost at once, and say that they are not everything', async () => {
    queue('a', '1');
    queue('a', '2');
    queue('b', '3');
    await clock.advance(DEBOUNCE_MS);

    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ routerId: 'router', isComplete: false });
    expect(sent[0]?.endpoints.map(({ endpointId, queuedNormal }) => [endpointId, queuedNormal])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    await clock.advance(DEBOUNCE_MS);
    expect(sent).toHaveLength(1);
  });

  test('everything is told on a timer, also that there is nothing', async () => {
    await clock.advance(COMPLETE_INTERVAL_MS);
    expect(sent).toEqual([{ routerId: 'router', sentAtMs: clock.nowMs(), isComplete: true, endpoints: [] }]);
  });

  test('a list too long for one message goes on in the next one, which takes nothing back', async () => {
    for (let index = 0; index < 2_001; index += 1) queue(`endpoint-${index}`, '1');
    await clock.advance(COMPLETE_INTERVAL_MS);
    const whole = sent.slice(-2);
    expect(whole.map(({ isComplete, endpoints }) => [isComplete, endpoints.length])).toEqual([
      [true, 2_000],
      [false, 1],
    ]);
  });

  test('nothing is said while the view may miss something', async () => {
    isWhole = false;
    queue('a', '1');
    await clock.advance(2 * COMPLETE_INTERVAL_MS);
    expect(sent).toEqual([]);
    isWhole = true;
    await clock.advance(DEBOUNCE_MS);
    expect(sent[0]?.endpoints).toHaveLength(1);
  });
});
