import { completeNatsKeys } from '@berth/broker-access';
import type { Random } from '@berth/lifecycle';
import { misuse, type CommandError } from '../../program/index.js';
import type { InstallationRecord } from '../installation.js';
import type { InstallationFile } from '../installation-files.js';
import type { InstallationFolder } from '../installation-folder.js';
import { databaseStatements, STATEMENTS_PATH } from './database-statements.js';
import { namedSecrets, type NamedSecret } from './named-secrets.js';
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
  readonly secrets: readonly NamedSecret[];
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
  requireComplete(before);
  const after = takeStep(before, request, random);
  const files = await changedFiles(folder, { request, before, after });
  if (request.step !== 'retire') await folder.replace(after);
  for (const file of files) await folder.overwrite(file);
  if (request.step === 'retire') await folder.replace(after);
  const secrets = namedSecrets(request.name, before, after);
  return { ...request, replaced: files.map(({ path }) => path), secrets };
}

async function installationOf(folder: InstallationFolder): Promise<InstallationRecord> {
  const kept = await folder.read();
  if (kept !== null) return kept;
  throw misuse(`${folder.path} holds no installation.`, 'Make one first: `berth init DIR`.');
}

function requireComplete({ nats }: InstallationRecord): void {
  if (completeNatsKeys(nats) === nats) return;
  throw misuse(
    'The installation is of an older version, which knew fewer roles; nothing was changed.',
    'Complete it first: `berth init DIR`, and what CHANGELOG.md says of the roles that came since.',
  );
}

function requireOurs({ name }: RotationRequest, { plan }: InstallationRecord): void {
  if (name !== 'database-password' || plan.databaseUrl === null) return;
  throw misuse(
    'The database is one of your own (--database-url); nothing was changed.',
    'Let a second login in there, set BERTH_DATABASE_URL of the env files to it, and restart as docs/production.md says.',
  );
}

interface Change {
  readonly request: RotationRequest;
  readonly before: InstallationRecord;
  readonly after: InstallationRecord;
}

/** The files with the secrets of now, and nothing else of them changed. */
async function changedFiles(folder: InstallationFolder, change: Change): Promise<readonly InstallationFile[]> {
  const places = Map.groupBy(placesOf(change.request.name, change.after), ({ path }) => path);
  const changed: InstallationFile[] = [];
  for (const [path, [first, ...others]] of places) {
    const text = await folder.readFile(path);
    if (first === undefined || (text === null && first.isOptional)) continue;
    const replaced = [first, ...others].reduce((left, place) => replaceIn(place, left, change), text ?? '');
    if (replaced !== text) changed.push({ path, text: replaced, isSecret: path.startsWith('env/') });
  }
  return [...changed, ...(await changedStatements(folder, change))];
}

function replaceIn(place: RotatedPlace, text: string, { after, before, request }: Change): string {
  const { name } = request;
  const replaced = place.replace(text, [...stagesOf(before, name), ...stagesOf(after, name)], after);
  if (replaced === null) {
    throw misuse(
      `${place.path} has no ${place.what} that berth init has made; nothing was changed.`,
      'Where a step of another kind was cut off, make that step again. Else put back what it had: ' +
        'offline/installation.json has it. What was begun by hand is ended by hand (docs/production.md).',
    );
  }
  // The step that is made again repairs whatever it finds; any other begins where the one before has ended.
  if (isAgain(request, before) || place.has(text, before) || place.has(text, after)) return replaced;
  throw cutOff(request, before, place.path);
}

const isAgain = ({ name, step }: RotationRequest, { rotations }: InstallationRecord): boolean =>
  rotations?.[name]?.step === step;

function cutOff({ name }: RotationRequest, { rotations }: InstallationRecord, path: string): CommandError {
  const last = rotations?.[name]?.step ?? 'retire';
  return misuse(
    `\`--step ${last}\` was cut off before it wrote ${path}, or that was put back; nothing was changed.`,
    `Run \`--rotate ${name} --step ${last}\` again, and restart as it says, before the next step.`,
  );
}

/** What PostgreSQL is to be told. */
async function changedStatements(
  folder: InstallationFolder,
  { after, before, request }: Change,
): Promise<readonly InstallationFile[]> {
  if (request.name !== 'database-password') return [];
  const kept = await folder.readFile(STATEMENTS_PATH);
  const isSwitching = request.step === 'switch' && !isAgain(request, before);
  if (isSwitching && kept !== databaseStatements(before, 'add')) throw cutOff(request, before, STATEMENTS_PATH);
  const text = databaseStatements(request.step === 'add' ? after : before, request.step);
  if (text === null || kept === text) return [];
  return [{ path: STATEMENTS_PATH, text, isSecret: true }];
}
