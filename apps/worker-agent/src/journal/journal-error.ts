/** The journal cannot take a record now: its budget is used up, or the disk refuses. What was there before stays. */
export class JournalFullError extends Error {
  constructor(detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'JournalFullError';
  }
}
