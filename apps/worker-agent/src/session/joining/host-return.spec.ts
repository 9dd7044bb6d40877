import { silentLogger, type Logger } from '@berth/telemetry';
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
  const warnings: unknown[] = [];
  const warn: Logger['warn'] = (_, fields) => {
    warnings.push(fields?.['why']);
  };
  const tools = { clock, random: new SeededRandom(1), logger: { ...silentLogger, warn } };
  const hostReturn = new HostReturn({ rejoin, ...tools });
  /** A try, after the pause that is due, which ends like that. */
  const refuse = async (why: string): Promise<void> => {
    hostReturn.noteRefused();
    await clock.advance(PAUSE_MS);
    hostReturn.noteRefused();
    tries.at(-1)?.reject(new Error(why));
    await letRun();
  };
  return { clock, hostReturn, refuse, tries, warnings };
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

  test('says once why it is refused and what to do, and again when the reason is another one', async () => {
    const { refuse, tries, warnings } = start();
    for (let again = 0; again < 40; again += 1) await refuse('removed');
    expect(tries.length).toBeGreaterThanOrEqual(40);
    expect(warnings).toEqual(['removed']);
    await refuse('no answer');
    expect(warnings).toEqual(['removed', 'no answer']);
  });

  test('says so again when it has been let in meanwhile', async () => {
    const { hostReturn, refuse, warnings } = start();
    await refuse('removed');
    hostReturn.noteAdmitted();
    await refuse('removed');
    expect(warnings).toEqual(['removed', 'removed']);
  });
});
