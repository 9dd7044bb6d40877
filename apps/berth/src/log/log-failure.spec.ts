import { PlatformError, type EndpointId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { CommandError, EXIT_STATUS } from '../program/index.js';
import { logFailureOf, noConnection, noLog } from './log-failure.js';

const told = (error: unknown): readonly unknown[] => {
  if (!(error instanceof CommandError)) throw new Error('nobody is told what to do about it', { cause: error });
  return [error.status, error.message, error.mend];
};
const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
const OWN_KEY =
  'BERTH_NATS_SEED must be that of env/operator.env, and BERTH_ROUTER_SEED the one of env/job-router.env.';

describe('why there is no log', () => {
  const NOT_UP = 'Is it up, and is BERTH_NATS_URL right?';
  test.each([
    { message: "'Authorization Violation'", status: 2, why: 'it does not know this user.', mend: OWN_KEY },
    {
      ...{ message: 'connection refused', status: 1, why: 'nobody listens there.' },
      mend: 'Start it, or set BERTH_NATS_URL to where it is.',
    },
    { message: '\u001b[31mod\u009bd', status: 1, why: 'od d.', mend: NOT_UP },
  ])('without a connection: $message', ({ mend, message, status, why }) => {
    const url = 'nats://u:secret@one:4222,nats://two:4222';
    const said = `No connection to nats://one:4222,nats://two:4222: ${why}`;
    expect(told(noConnection(url, new Error(message)))).toEqual([status, said, mend]);
  });

  test('behind a broker that says nothing, which it does to a stranger too', () => {
    const [status, , mend] = told(noConnection('tls://b:4222', named('TimeoutError', 'timeout')));
    expect([status, mend]).toEqual([EXIT_STATUS.failed, expect.stringContaining(OWN_KEY)]);
  });

  test('where the broker stays away, or refuses what is asked', () => {
    const away = new PlatformError('service-unavailable', 'away', { cause: new Error('no answer\u001b[2J') });
    expect(told(logFailureOf(away))[1]).toBe('The broker does not answer: no answer.');
    const refused = new Error('request', { cause: named('PermissionViolationError', 'Permissions Violation for x') });
    for (const error of [refused, refused.cause]) {
      expect(told(logFailureOf(error))).toEqual([
        ...[EXIT_STATUS.misused, 'The broker does not let this user at the log: Permissions Violation for x', OWN_KEY],
      ]);
    }
    expect(told(noLog('ep' as EndpointId))[0]).toBe(EXIT_STATUS.misused);
  });

  test('a fault of ours stays one', () => {
    const fault = new TypeError('odd');
    expect(logFailureOf(fault)).toBe(fault);
  });
});
