import type { AccountId, EndpointId, LimitOverrides } from '@berth/domain';
import { expect, test } from '@jest/globals';
import { HeldCalls } from './held-calls.js';

const [GREEDY, OTHER, NEW] = ['greedy', 'other', 'new'] as unknown as readonly EndpointId[] as [
  EndpointId,
  EndpointId,
  EndpointId,
];

const callsOf = (limits: LimitOverrides | undefined, callsMax?: number): HeldCalls =>
  new HeldCalls({
    endpointOf: (id) =>
      id === NEW ? null : { accountId: id as string as AccountId, ...(limits === undefined ? {} : { limits }) },
    ...(callsMax === undefined ? {} : { callsMax }),
  });

test('an account that holds all calls that it may keeps no other out', () => {
  const calls = callsOf({ heldCallsPerRouter: 3 });
  const [first] = [1, 2, 3].map(() => calls.begin(GREEDY));
  expect(() => calls.begin(GREEDY)).toThrow(
    expect.objectContaining({
      code: 'limit-reached',
      message: 'The account may have 3 calls held at one router (account limit heldCallsPerRouter).',
      retryAfterSeconds: 1,
    }),
  );
  calls.begin(OTHER);
  first?.();
  first?.();
  calls.begin(GREEDY);
  expect(() => calls.begin(GREEDY)).toThrow();
  expect(calls.size).toBe(4);
});

test('without an override it is the default, also of an endpoint that has just been made', () => {
  for (const endpointId of [GREEDY, NEW]) {
    const calls = callsOf(undefined);
    for (let call = 0; call < 5_000; call += 1) calls.begin(endpointId);
    expect(() => calls.begin(endpointId)).toThrow('may have 5000 calls');
  }
});

test('all accounts together hold no more than the router has room for', () => {
  const calls = callsOf({ heldCallsPerRouter: 20_000 }, 2);
  const end = calls.begin(GREEDY);
  calls.begin(OTHER);
  expect(() => calls.begin(OTHER)).toThrow(expect.objectContaining({ code: 'service-unavailable' }));
  end();
  calls.begin(OTHER);
});
