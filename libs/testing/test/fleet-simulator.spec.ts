import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { FLEET_SCENARIOS, reportFleet } from '../src/fleet-simulator/fleet-report.js';
import { simulateFleet } from '../src/fleet-simulator/simulate-fleet.js';

/** Written by `npm run simulate -- --fleet --golden`. */
const GOLDEN = join(import.meta.dirname, 'fleet-report.golden.json');

const report = reportFleet(FLEET_SCENARIOS.hours);

test('a fleet that is walked through some hours has the report that is kept', () => {
  expect(report).toEqual(JSON.parse(readFileSync(GOLDEN, 'utf8')));
});

test('the same seed has the same outcome, and another seed another', () => {
  const short = { ...FLEET_SCENARIOS.hours, hours: 0.5, hasGreedyNeighbour: true, accountLimits: new Map() };
  const first = simulateFleet(short);
  expect(simulateFleet(short)).toEqual(first);
  expect(simulateFleet({ ...short, seed: 2 })).not.toEqual(first);
});

test('workers hold less than four times the GPU time that jobs take, and most jobs start within a minute', () => {
  const { gpuHoursHeld, gpuHoursIdeal, waitP50Ms } = report.quiet;
  expect(gpuHoursHeld).toBeLessThan(4 * gpuHoursIdeal);
  expect(waitP50Ms).toBeLessThan(60_000);
});

test('a neighbour that wants a thousand workers lengthens the wait of no account by more than a minute', () => {
  const { meanWaitBesideMs, meanWaitMs } = report.greedy.worstNeighbour;
  expect(meanWaitBesideMs - meanWaitMs).toBeLessThan(60_000);
});
