import type { LeaderTerm } from './leader-lease.js';

/** Instead of a write of a leader whose term is over: the next one starts from the rows as they are. */
export class TermOverError extends Error {
  constructor() {
    super('The term of this leader is over.');
    this.name = 'TermOverError';
  }
}

/** To be called before each write. @throws TermOverError */
export function requireTerm(term: Pick<LeaderTerm, 'isOver'>): void {
  if (term.isOver()) throw new TermOverError();
}
