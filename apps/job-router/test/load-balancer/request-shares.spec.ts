import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccountId, EndpointId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { RequestShares } from '../../src/load-balancer/places/request-shares.js';
import { DoorScene } from './door-scene.js';

const id = (name: string): EndpointId => name as EndpointId;
/** Endpoints of the account that their name begins with. */
const sharesOf = (holdCall: () => () => void = () => () => undefined): RequestShares =>
  new RequestShares({
    directory: {
      knownEndpoint: (endpointId) => ({
        ...{ id: endpointId, accountId: endpointId.slice(0, 1) as AccountId, type: 'LOAD_BALANCER' as const },
        ...{ executionTimeoutMs: 1, workersMax: 1, isDeleted: false },
      }),
    },
    holdCall,
  });

const tooMany = expect.objectContaining({ code: 'too-many-held-requests', retryAfterSeconds: 5 }) as unknown;

describe('the share of an account', () => {
  test('of requests is what all of its endpoints have together, and others have room whatever it has', () => {
    const shares = sharesOf();
    const ends: (() => void)[] = [];
    expect(() => {
      for (let n = 0; n < 10_000; n += 1) ends.push(shares.begin(id(`a${String(n % 50)}`)));
    }).toThrow(tooMany);
    expect(ends).toHaveLength(6_666);
    const other = shares.begin(id('b1'));
    other();
    other();
    for (const end of ends.slice(0, 2)) end();
    shares.begin(id('a1'));
    shares.begin(id('a2'));
    expect(() => shares.begin(id('a3'))).toThrow(tooMany);
    shares.begin(id('b2'));
  });

  test('of heads that wait is bounded as well, and what is refused takes nothing of it', () => {
    const head = 16 * 1_024 * 1_024;
    const shares = sharesOf();
    const ends = Array.from({ length: 10 }, (_, n) => shares.hold(id(`a${String(n)}`), head));
    expect(() => shares.hold(id('a99'), head)).toThrow(tooMany);
    shares.hold(id('b1'), head);
    ends[0]?.();
    shares.hold(id('b2'), head);
    const refusing = sharesOf(() => {
      throw new Error('no more calls');
    });
    for (let n = 0; n < 20; n += 1) expect(() => refusing.hold(id('a1'), head)).toThrow('no more calls');
  });
});

describe('a request that waits', () => {
  let scene: DoorScene;
  afterEach(() => scene.close());

  test('is a call that the router holds for its account, until a worker has it', async () => {
    scene = new DoorScene({ endpoint: { limits: { heldCallsPerRouter: 2 } } });
    await scene.open();
    const callers = ['/1', '/2'].map((path) => {
      const caller = scene.caller();
      caller.ask(`GET ${path}`);
      return caller;
    });
    await eventually(() => expect(scene.calls.size).toBe(2));
    const third = scene.caller();
    third.ask('GET /3');
    await third.hears(/^HTTP\/1\.1 429 [^]*x-berth-error: limit-reached[^]*Retry-After: 1/i);
    const answers: ServerResponse[] = [];
    const keep = (_request: IncomingMessage, response: ServerResponse) => void answers.push(response);
    await scene.addWorker('w1', keep);
    await eventually(() => expect(answers).toHaveLength(1));
    await eventually(() => expect(scene.calls.size).toBe(1));
    callers[1]?.socket.destroy();
    await eventually(() => expect(scene.calls.size).toBe(0));
  });
});
