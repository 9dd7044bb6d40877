import type { Random } from '@berth/lifecycle';
import { misuse } from '../../program/index.js';
import type { InstallationRecord } from '../installation.js';
import type { InstallationFile } from '../installation-files.js';
import type { InstallationFolder } from '../installation-folder.js';
import { databaseStatements, STATEMENTS_PATH } from './database-statements.js';
import { placesOf, type RotatedPlace } from './rotated-places.js';
import { stagesOf, takeStep, type RotationName, type RotationStep } from './rotation-steps.js';

/** A step of what is replaced. */
export interface RotationRequest {
  readonly name: RotationName;
  readonly step: RotationStep;
}

/** What a step has done. */
export interface RotationOutcome extends RotationRequest {
  /** Files that had something else. */
  readonly replaced: readonly string[];
}

/**
 * Makes a step. A run that was cut off is repaired by the same step once more: the installation has a new secret before a file
 * has it, and an old one until no file has it.
 *
 * @throws CommandError when it cannot be made; nothing is written then
 */
export async function runRotation(
  folder: InstallationFolder,
  request: RotationRequest,
  random: Random,
): Promise<RotationOutcome> {
  await installationOf(folder);
  return folder.alone(random, () => makeStep(folder, request, random));
}

async function makeStep(
  folder: InstallationFolder,
  request: RotationRequest,
  random: Random,
): Promise<RotationOutcome> {
  const before = await installationOf(folder);
  requireOurs(request, before);
  const after = takeStep(before, request, random);
  const files = await changedFiles(folder, request, { before, after });
  if (request.step !== 'retire') await folder.replace(after);
  for (const file of files) await folder.overwrite(file);
  if (request.step === 'retire') await folder.replace(after);
  return { ...request, replaced: files.map(({ path }) => path) };
}

async function installationOf(folder: InstallationFolder): Promise<InstallationRecord> {
  const kept = await folder.read();
  if (kept !== null) return kept;
  throw misuse(`${folder.path} holds no installation.`, 'Make one first: `berth init DIR`.');
}

function requireOurs({ name }: RotationRequest, { plan }: InstallationRecord): void {
  if (name !== 'database-password' || plan.databaseUrl === null) return;
  throw misuse(
    'The database is one of your own (--database-url); nothing was changed.',
    'Let a second login in there, set BERTH_DATABASE_URL of the env files to it, and restart as docs/production.md says.',
  );
}

interface Change {
  readonly before: InstallationRecord;
  readonly after: InstallationRecord;
}

/** The files with the secrets of now, and nothing else of them changed. */
async function changedFiles(
  folder: InstallationFolder,
  request: RotationRequest,
  { after, before }: Change,
): Promise<readonly InstallationFile[]> {
  const stages = [...stagesOf(before, request.name), ...stagesOf(after, request.name)];
  const places = Map.groupBy(placesOf(request.name, after), ({ path }) => path);
  const changed: InstallationFile[] = [];
  for (const [path, [first, ...others]] of places) {
    const text = await folder.readFile(path);
    if (first === undefined || (text === null && first.isOptional)) continue;
    const replaced = [first, ...others].reduce((left, place) => replaceIn(place, left, { stages, after }), text ?? '');
    if (replaced !== text) changed.push({ path, text: replaced, isSecret: path.startsWith('env/') });
  }
  return [...changed, ...(await changedStatements(folder, request, { before, after }))];
}

function replaceIn(
  { path, replace, what }: RotatedPlace,
  text: string,
  { after, stages }: { readonly stages: readonly InstallationRecord[]; readonly after: InstallationRecord },
): string {
  const replaced = replace(text, stages, after);
  if (replaced !== null) return replaced;
  throw misuse(
    `${path} has no ${what} that berth init has made; nothing was changed.`,
    'Put back what it had: offline/installation.json has it. What was begun by hand is ended by hand (docs/production.md).',
  );
}

/** What PostgreSQL is to be told. */
async function changedStatements(
  folder: InstallationFolder,
  { name, step }: RotationRequest,
  { after, before }: Change,
): Promise<readonly InstallationFile[]> {
  if (name !== 'database-password') return [];
  const text = databaseStatements(step === 'add' ? after : before, step);
  if (text === null || (await folder.readFile(STATEMENTS_PATH)) === text) return [];
  return [{ path: STATEMENTS_PATH, text, isSecret: true }];
}
