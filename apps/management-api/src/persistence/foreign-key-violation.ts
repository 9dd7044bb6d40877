import { QueryFailedError } from 'typeorm';

const FOREIGN_KEY_VIOLATION = '23503';

/** Whether the database refused a write because of this foreign key: what it names is not there, or still needed. */
export function violatesForeignKey(error: unknown, constraint: string): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { code, constraint: broken } = error.driverError as { readonly code?: string; readonly constraint?: string };
  return code === FOREIGN_KEY_VIOLATION && broken === constraint;
}
