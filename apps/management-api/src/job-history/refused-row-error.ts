import { QueryFailedError } from 'typeorm';

/** Classes of SQLSTATE that speak of values: data, integrity, and what is too large for an index. */
const REFUSAL = /^(22|23|54)/;

/** The database takes none of what it was given, because of what it is. */
export const isRefusal = (error: unknown): boolean =>
  // An instant that is no date does not even get as far as the database.
  error instanceof RangeError ||
  (error instanceof QueryFailedError && REFUSAL.test(String((error.driverError as { readonly code?: string }).code)));

/** The database takes none of what it was given, because one row of it breaks a rule. */
export class RefusedRowError extends Error {
  constructor(cause: unknown) {
    super('A row breaks a rule of the job history.', { cause });
    this.name = 'RefusedRowError';
  }
}
