import { ConfigReader } from '@berth/lifecycle';
import { expect, test } from '@jest/globals';
import { readSecretBox } from './read-secret-box.js';

const problemsOf = (value: string | undefined): readonly string[] => {
  const read = new ConfigReader({ BERTH_SECRET_KEY: value });
  readSecretBox(read);
  return read.problems;
};

test('a good key makes a box that works', () => {
  const read = new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') });
  const box = readSecretBox(read);
  expect(box.open(box.seal('hunter2', 'a'), 'a')).toBe('hunter2');
  expect(read.problems).toEqual([]);
});

test('a missing or bad key is named, with how to make one, and never repeated', () => {
  expect(problemsOf(undefined)).toEqual(['BERTH_SECRET_KEY is missing: make one with `openssl rand -base64 32`']);
  expect(problemsOf('')).toEqual(problemsOf(undefined));
  const [problem] = problemsOf('hunter2');
  expect(problem).toMatch(/^BERTH_SECRET_KEY must be 32 bytes in base64.*`openssl rand -base64 32`$/);
  expect(problem).not.toContain('hunter2');
});
