import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { leftOut, well, wrong } from './finding.js';
import { findingLines, isAllWell } from './finding-lines.js';
import { runChecks, type Check } from './run-checks.js';

const check = (area: Check['area'], look: Check['look']): Check => ({ area, what: `the ${area}`, look });

test('a check that fails or never ends keeps no other from being made, and is a finding', async () => {
  const clock = new ManualClock();
  let isOver = false;
  const told = runChecks(
    [
      check('streams', () => Promise.reject(new Error('no way'))),
      check('hosts', (signal) => {
        signal.addEventListener('abort', () => (isOver = true));
        return new Promise(() => undefined);
      }),
      check('database', () => Promise.resolve([well('database', 'PostgreSQL 18.6')])),
    ],
    clock,
  );
  await clock.advance(20_000);
  const findings = await told;
  expect(findings.map(({ area, says, state }) => [area, state, says])).toEqual([
    ['database', 'well', 'PostgreSQL 18.6'],
    ['streams', 'wrong', 'the streams: it could not be looked at: no way'],
    ['hosts', 'wrong', 'the hosts: no answer'],
  ]);
  expect([isOver, isAllWell(findings)]).toEqual([true, false]);
});

test('findings are lines in columns with a sum, and nothing in them writes to a terminal', () => {
  const findings = [
    well('brokers', 'nats-server 2.15.0'),
    wrong('streams', 'LOG_0: \u001b[31mmissing', 'start it'),
    leftOut('hosts', 'BERTH_API_KEY'),
  ];
  expect(findingLines(findings)).toEqual([
    'ok     brokers  nats-server 2.15.0',
    expect.stringMatching(/^WRONG {2}streams {2}LOG_0: \P{Cc}*missing\. Mend: start it$/u),
    expect.stringMatching(/^- {6}hosts {4}not looked at: BERTH_API_KEY is not set\. Mend: set BERTH_API_KEY/),
    '',
    '1 of 3 wrong. 1 left out.',
  ]);
  expect(isAllWell([well('hosts', 'online'), leftOut('hosts', 'BERTH_API_KEY')])).toBe(true);
});
