import type { EndpointCommand } from './commands.js';

/** Share of a store's room from which on nobody brings new jobs: the rest is for what was accepted. */
export const SUBMIT_FILL_MAX = 0.75;

/** Share of a shard's room from which on only what frees it is written: ends, cancels and expiry, and carrying. */
export const GROWTH_FILL_MAX = 0.9;

/** Up to which share there is room for each: what brings something first, what goes on with it then, what ends it always. */
const FILL_MAX: Readonly<Record<EndpointCommand['kind'], number>> = {
  submit: SUBMIT_FILL_MAX,
  take: GROWTH_FILL_MAX,
  progress: GROWTH_FILL_MAX,
  retry: GROWTH_FILL_MAX,
  'begin-try': GROWTH_FILL_MAX,
  finish: Number.POSITIVE_INFINITY,
  'give-up': Number.POSITIVE_INFINITY,
  'let-go': Number.POSITIVE_INFINITY,
  cancel: Number.POSITIVE_INFINITY,
  'replace-life': Number.POSITIVE_INFINITY,
  purge: Number.POSITIVE_INFINITY,
  look: Number.POSITIVE_INFINITY,
  'end-try': Number.POSITIVE_INFINITY,
  open: Number.POSITIVE_INFINITY,
  delete: Number.POSITIVE_INFINITY,
};

/**
 * Whether a command finds room in a log of which so much is taken. A full stream would refuse the ends
 * of the very jobs that fill it, so everything else is refused earlier.
 *
 * @param fill bytes in the stream, as a share of those that it may hold
 */
export const findsRoom = (kind: EndpointCommand['kind'], fill: number): boolean => fill < FILL_MAX[kind];
