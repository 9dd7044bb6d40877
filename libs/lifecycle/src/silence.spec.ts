import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { Silence } from './silence.js';

test('is told of once nothing was heard for as long, however long the whole takes', async () => {
  const clock = new ManualClock();
  let isSilent = false;
  const silence = new Silence(clock, 10, () => {
    isSilent = true;
  });
  for (let heard = 0; heard < 5; heard += 1) {
    await clock.advance(9);
    silence.heard();
  }
  expect(isSilent).toBe(false);
  await clock.advance(10);
  expect(isSilent).toBe(true);
});

test('is told of nobody after its end', async () => {
  const clock = new ManualClock();
  let isSilent = false;
  const silence = new Silence(clock, 10, () => {
    isSilent = true;
  });
  silence.end();
  await clock.advance(100);
  expect(isSilent).toBe(false);
});
