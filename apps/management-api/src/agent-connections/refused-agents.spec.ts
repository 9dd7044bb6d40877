import { silentLogger, type Logger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { RefusedAgents, type AdmissionFault } from './refused-agents.js';

const MINUTE_MS = 60_000;

function watched() {
  const clock = new ManualClock();
  const [names, counted]: [unknown[], AdmissionFault[]] = [[], []];
  const warn: Logger['warn'] = (_, fields) => void names.push((fields as { user?: unknown }).user);
  const logger = Object.assign(Object.create(silentLogger) as Logger, { warn });
  const refused = new RefusedAgents({ clock, logger, onRefused: (fault) => counted.push(fault) });
  return { clock, names, counted, refused };
}

test('a removed agent that knocks for ever is counted each time and logged once a minute', async () => {
  const { clock, counted, names, refused } = watched();
  for (let minute = 0; minute < 2; minute += 1) {
    for (let n = 0; n < 60; n += 1) refused.note('unknown', { user: 'h1' });
    await clock.advance(MINUTE_MS);
  }
  expect(counted).toHaveLength(120);
  expect(names).toEqual(['h1', 'h1']);
});

test('names without end fill neither the log nor the memory', async () => {
  const { clock, counted, names, refused } = watched();
  for (let n = 0; n < 5_000; n += 1) refused.note('no-host', { user: `${'x'.repeat(1_000)}${n}` });
  expect(names).toEqual(['x'.repeat(99) + '…']);
  for (let n = 0; n < 5_000; n += 1) refused.note('no-host', { user: `h${n}` });
  expect(names).toHaveLength(1_000);
  expect(counted).toHaveLength(10_000);
  await clock.advance(MINUTE_MS);
  refused.note('unknown', { user: 'h1' });
  expect(names).toHaveLength(1_001);
});
