import { expect, test } from '@jest/globals';
import type { EndpointOutlook } from './endpoint-outlook.js';
import { explainHeld, type HeldView } from './explain-held.js';

const NOW_MS = 1_000_000;
const OUTLOOK: EndpointOutlook = { desired: 1, scaling: { reason: 'demand', sinceMs: 0 }, coming: [], unplaced: null };

const why = (view: Partial<HeldView> = {}): string | null =>
  explainHeld(
    {
      ...{ sinceMs: NOW_MS - 120_000, workersMax: 2, workers: [], outlook: OUTLOOK, inFlight: 0 },
      controlHeardAtMs: NOW_MS,
      ...view,
    },
    NOW_MS,
  );

test.each<[string, Partial<HeldView>, RegExp]>([
  ['the maximum is 0', { workersMax: 0 }, /workers\.max of the endpoint is 0.* \(workers-max-zero\)$/],
  [
    'the account has all that it may have',
    { outlook: { ...OUTLOOK, unplaced: unplaced('account-quota', 'it has 2 of 2 workers') } },
    /1 wanted worker not placed: it has 2 of 2 workers \(account-quota\)$/,
  ],
  [
    'its release does not come up',
    { outlook: { ...OUTLOOK, crashLoop: { detail: 'exit 1, 5 times in a row', sinceMs: 1 } } },
    /exit 1, 5 times in a row \(image-error\)$/,
  ],
  ['the control plane is silent', { controlHeardAtMs: NOW_MS - 60_000 }, /has been silent since .* \(unknown\)$/],
  [
    'there are as many as may be, and all are busy',
    { workers: [busy(), busy()], inFlight: 2 },
    /2 workers of at most 2 \(workers\.max\) are there, busy \(at-max-workers\)$/,
  ],
])('a request hears that %s', (...[, view, expected]) => {
  expect(why(view)).toMatch(expected);
});

test('nothing more is said where a worker is there, or the decision is about to be made', () => {
  expect(why({ workers: [{ phase: 'idle', isDraining: false }] })).toBeNull();
  expect(why({ workers: [busy()], inFlight: 1 })).toBeNull();
  expect(why({ sinceMs: NOW_MS, outlook: null })).toBeNull();
});

function busy(): HeldView['workers'][number] {
  return { phase: 'busy', isDraining: false };
}

function unplaced(reason: string, detail: string): EndpointOutlook['unplaced'] {
  return { count: 1, reason, detail, sinceMs: 0, hosts: [] };
}
