import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EndpointId } from '../../ids.js';
import { admitRequest, type AdmissionView } from './admit-request.js';

const OWN = 'own' as EndpointId;

const views: fc.Arbitrary<AdmissionView> = fc.record({
  endpointId: fc.constant(OWN),
  slots: fc.nat(5),
  inFlight: fc.nat(6),
  isAwake: fc.boolean(),
  isLeaving: fc.boolean(),
  isHealthy: fc.boolean(),
});

test('a request is taken only by a worker of its endpoint that is up, stays, and has a slot', () => {
  fc.assert(
    fc.property(views, (view) => {
      const isTaken = admitRequest(view, OWN) === null;
      const { inFlight, isAwake, isHealthy, isLeaving, slots } = view;
      expect(isTaken).toBe(!isLeaving && isAwake && isHealthy && inFlight < slots);
      expect(admitRequest(view, 'other' as EndpointId)).toBe('unknown-worker');
    }),
  );
});

test('whoever asks and counts never has more than its slots', () => {
  fc.assert(
    fc.property(fc.nat(8), fc.array(fc.boolean(), { maxLength: 60 }), (slots, story) => {
      let inFlight = 0;
      for (const isRequest of story) {
        const view = { endpointId: OWN, slots, inFlight, isAwake: true, isLeaving: false, isHealthy: true };
        if (!isRequest) inFlight = Math.max(0, inFlight - 1);
        else if (admitRequest(view, OWN) === null) inFlight += 1;
        expect(inFlight).toBeLessThanOrEqual(slots);
      }
    }),
  );
});

test.each([
  ['one that is gone', null, 'unknown-worker'],
  ['one that leaves, whatever else', { isLeaving: true, isHealthy: false, inFlight: 1 }, 'leaving'],
  ['one that stands still', { isAwake: false, inFlight: 1 }, 'unready'],
  ['one whose checks fail', { isHealthy: false, inFlight: 1 }, 'unready'],
  ['one with all that it takes', { inFlight: 1 }, 'full'],
] as const)('%s says why', (_, change, refusal) => {
  const view = { endpointId: OWN, slots: 1, inFlight: 0, isAwake: true, isLeaving: false, isHealthy: true };
  expect(admitRequest(change === null ? null : { ...view, ...change }, OWN)).toBe(refusal);
});
