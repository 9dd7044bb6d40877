import { describe, expect, test } from '@jest/globals';
import type { Doctor } from '../src/log-simulator/doctor.js';
import { simulateLog, type LogSimulation } from '../src/log-simulator/simulate-log.js';
import { readSimulatorConfig } from './config.js';
import { LOG_DOCTORS } from './log-doctors.js';

const { firstSeed: FIRST_SEED, seeds: SEEDS } = readSimulatorConfig();
/** A doctored bug must show well within the seeds of one ordinary run. */
const SEEDS_TO_FIND_A_BUG = 40;
/** Of the story of a seed, its last lines tell how it came to that. */
const STORY_LINES_MAX = 60;

async function storyOf(seed: number): Promise<string> {
  const lines: string[] = [];
  await simulateLog({ seed, tell: (line) => lines.push(line.slice(0, 1_000)) });
  return lines.slice(-STORY_LINES_MAX).join('\n');
}

async function firstBroken(doctor: Doctor): Promise<LogSimulation | undefined> {
  for (let seed = 1; seed <= SEEDS_TO_FIND_A_BUG; seed += 1) {
    const run = await simulateLog({ seed, doctor });
    if (run.broken.length > 0) return run;
  }
  return undefined;
}

describe('an endpoint and its log, under owners that die, freeze and overlap, and a broker that loses and repeats', () => {
  test(`keep every promise for ${SEEDS} seeds`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const { broken } = await simulateLog({ seed });
      if (broken.length > 0) throw new Error(`seed ${seed}: ${broken.join('\n')}\n${await storyOf(seed)}`);
    }
  }, 600_000);

  test('are the same run for the same seed', async () => {
    expect(await storyOf(7)).toBe(await storyOf(7));
  });
});

describe('doctored bugs are found', () => {
  test.each(Object.entries(LOG_DOCTORS))(
    '%s',
    async (_, doctor) => {
      const found = await firstBroken(doctor);

      expect(found?.broken[0]).toBeDefined();
    },
    120_000,
  );
});
