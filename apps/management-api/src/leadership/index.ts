export { LeaderLease, type LeaderTerm } from './leader-lease.js';
export { requireTerm, TermOverError } from './term-over.js';
