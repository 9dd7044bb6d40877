import { PlatformError } from '@berth/domain';
import { BrokerApiError } from '@berth/messaging';
import { ManualClock, SeededRandom, letRun } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { askPatiently } from './readable-log.js';

const AWAY = new PlatformError('service-unavailable', 'away', { cause: new Error('no answer') });
const REFUSED = new PlatformError('service-unavailable', 'away', {
  cause: new BrokerApiError('read', { code: 404, err_code: 10_059, description: 'stream not found' }),
});

/** Answers by the script, its last line over and over. */
async function asked(script: readonly (Error | string)[]): Promise<{ answer: unknown; asked: number }> {
  const clock = new ManualClock(0);
  const tools = { clock, random: new SeededRandom(1), signal: new AbortController().signal };
  let count = 0;
  let answer: unknown;
  const ask = (): Promise<string> => {
    const line = script[Math.min(count, script.length - 1)] ?? '';
    count += 1;
    return line instanceof Error ? Promise.reject(line) : Promise.resolve(line);
  };
  void askPatiently(tools, ask)
    .catch((error: unknown) => error)
    .then((said) => (answer = said));
  for (let turns = 0; turns < 100 && answer === undefined; turns += 1) {
    await letRun();
    await clock.advance(1_000);
  }
  return { answer, asked: count };
}

test.each([
  { what: 'an answer that is lost is asked for again', script: [AWAY, AWAY, 'batch'], answer: 'batch', asked: 3 },
  { what: 'a broker that stays away is told of', script: [AWAY], answer: AWAY, asked: 8 },
  { what: 'what the broker says is told at once', script: [REFUSED, 'batch'], answer: REFUSED, asked: 1 },
])('$what', async ({ answer, asked: times, script }) => {
  expect(await asked(script)).toEqual({ answer, asked: times });
});
