/** The highest port of TCP. */
export const PORT_MAX = 65_535;
/** The farthest instant from the epoch that a `Date` can hold, in Unix milliseconds. */
export const INSTANT_MAX_MS = 8.64e15;
