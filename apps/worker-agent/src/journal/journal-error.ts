/** The journal cannot take a record now: its budget is used up, or the disk refuses. The records of before stay. */
export class JournalFullError extends Error {
  constructor(detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'JournalFullError';
  }
}
