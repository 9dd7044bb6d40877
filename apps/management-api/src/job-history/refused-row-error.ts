/** The database takes none of what it was given, because one row of it breaks a rule. */
export class RefusedRowError extends Error {
  constructor(cause: unknown) {
    super('A row breaks a rule of the job history.', { cause });
    this.name = 'RefusedRowError';
  }
}
