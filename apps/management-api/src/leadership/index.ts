export { LeaderLease, type LeaderTerm } from './leader-lease.js';
export { requireTerm, TermOverError } from './require-term.js';
