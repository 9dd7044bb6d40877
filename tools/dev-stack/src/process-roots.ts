import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppProcessName } from './app-processes.js';

/** Repositories, as absolute paths, of processes that run in another version than the launcher's. */
export type ProcessRoots = Readonly<Partial<Record<AppProcessName, string>>>;

/** Where a test says so; it is read at each start of a process, so what is written there holds from its next start on. */
export const rootsFile = (home: string): string => join(home, 'roots.json');

/** The repository whose build a process is started from. */
export function rootOf(
  name: AppProcessName,
  { home, repository }: { readonly home: string; readonly repository: string },
): string {
  const file = rootsFile(home);
  if (!existsSync(file)) return repository;
  return (JSON.parse(readFileSync(file, 'utf8')) as ProcessRoots)[name] ?? repository;
}
