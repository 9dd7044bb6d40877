import type { RuntimeErrorReason } from '../runtime-error.js';

/** Engines and kubelets tell causes in their text only. First match wins. */
export const PULL_RULES: readonly (readonly [pattern: RegExp, reason: RuntimeErrorReason])[] = [
  [/toomanyrequests|rate limit|dial tcp/i, 'image-unreachable'],
  [
    /not found|manifest unknown|does not exist|pull access denied|no matching manifest|invalid reference/i,
    'image-missing',
  ],
  [/unauthorized|denied|authentication required|no basic auth|incorrect username or password/i, 'image-denied'],
];

const NO_ROOM = /no space left on device|disk quota exceeded/i;

/** What the words mean in which a pull has failed. */
export const pullReasonIn = (text: string): RuntimeErrorReason =>
  NO_ROOM.test(text) ? 'disk-full' : (PULL_RULES.find(([pattern]) => pattern.test(text))?.[1] ?? 'image-unreachable');
