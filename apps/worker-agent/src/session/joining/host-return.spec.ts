import { silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { HostReturn } from './host-return.js';

const PATIENCE_MS = 30_000;
/** As long as the pause after a try is at most. */
const PAUSE_MS = 90_000;

const start = () => {
  const clock = new ManualClock();
  const tries: PromiseWithResolvers<void>[] = [];
  const rejoin = (): Promise<void> => {
    const attempt = Promise.withResolvers<void>();
    tries.push(attempt);
    return attempt.promise;
  };
  const hostReturn = new HostReturn({ rejoin, clock, random: new SeededRandom(1), logger: silentLogger });
  return { clock, hostReturn, tries };
};

describe('a host that the broker refuses', () => {
  test('joins again only after a while, once at a time', async () => {
    const { clock, hostReturn, tries } = start();
    hostReturn.noteRefused();
    expect(tries).toHaveLength(0);
    await clock.advance(PATIENCE_MS);
    hostReturn.noteRefused();
    hostReturn.noteRefused();
    expect(tries).toHaveLength(1);
  });

  test('tries on with pauses where it is not let in', async () => {
    const { clock, hostReturn, tries } = start();
    hostReturn.noteRefused();
    await clock.advance(PATIENCE_MS);
    hostReturn.noteRefused();
    tries[0]?.reject(new Error('removed'));
    await letRun();
    hostReturn.noteRefused();
    expect(tries).toHaveLength(1);
    await clock.advance(PAUSE_MS);
    hostReturn.noteRefused();
    expect(tries).toHaveLength(2);
  });

  test('is patient anew once it has been let in', async () => {
    const { clock, hostReturn, tries } = start();
    hostReturn.noteRefused();
    await clock.advance(PATIENCE_MS);
    hostReturn.noteAdmitted();
    hostReturn.noteRefused();
    expect(tries).toHaveLength(0);
  });
});
