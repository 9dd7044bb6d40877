import { completeNatsKeys } from '@berth/broker-access';
import { issueCertificate } from '@berth/broker-access/certificates';
import type { Clock, Random } from '@berth/lifecycle';
import { misuse } from '../program/index.js';
import { createFirstKey, createInstallation, type InstallationRecord } from './installation.js';
import {
  MIGRATE_PATH,
  renderFiles,
  seedOf,
  serverCertificates,
  type InstallationFile,
  type ServerCertificate,
} from './installation-files.js';
import type { InstallationFolder } from './installation-folder.js';
import { completePlan, problemsOf, type GivenPlan, type InstallationPlan } from './installation-plan.js';

export interface InitRequest {
  readonly given: GivenPlan;
  readonly isRenewing: boolean;
  readonly isFirstKeyNew: boolean;
}

/** What has become of each file. */
export interface InitOutcome {
  readonly written: readonly string[];
  readonly replaced: readonly string[];
  readonly kept: readonly string[];
  /** Those kept that this version would write otherwise: somebody has changed them, or an older version wrote them. */
  readonly differing: readonly string[];
  /** Shown once; null: it was shown when it was made. */
  readonly firstKey: string | null;
  readonly authorityUntilMs: number;
}

interface InitTools {
  readonly folder: InstallationFolder;
  readonly clock: Clock;
  readonly random: Random;
}

const DAY_MS = 24 * 60 * 60_000;
/** What clients take at most from public authorities; and a year and a month are a rhythm that people keep. */
const CERTIFICATE_MS = 397 * DAY_MS;

/**
 * Makes an installation, or whatever is missing of the one that is there. What is there is left alone, but for what the
 * request says: so a run that was cut off is repaired by another.
 *
 * @throws CommandError when the request cannot be done; nothing is written then
 */
export async function runInit(request: InitRequest, tools: InitTools): Promise<InitOutcome> {
  const { folder, random } = tools;
  const kept = await folder.read();
  if (kept === null) planOf(request.given, folder);
  else sameAs(kept, request.given);
  return folder.alone(random, () => changeFolder(request, tools));
}

async function changeFolder({ given, isFirstKeyNew, isRenewing }: InitRequest, tools: InitTools): Promise<InitOutcome> {
  const { installation, key: madeKey } = await openInstallation(given, tools);
  const files = await writeFiles(renderFiles(installation), tools.folder);
  const certificates = await writeCertificates(installation, isRenewing, tools);
  const isKeyReplaced = isFirstKeyNew && madeKey === null;
  // Last: where anything fails before it the old one, which somebody has seen, stays.
  const key = isKeyReplaced ? await changeKey(installation, tools) : madeKey;
  return {
    written: [...files.written, ...certificates.written],
    replaced: [...certificates.replaced, ...(isKeyReplaced ? [MIGRATE_PATH] : [])],
    kept: [...files.kept, ...certificates.kept].filter((path) => !isKeyReplaced || path !== MIGRATE_PATH),
    differing: files.differing,
    firstKey: key,
    authorityUntilMs: installation.authorityUntilMs,
  };
}

interface Opened {
  readonly installation: InstallationRecord;
  /** The first key, where it was made just now. */
  readonly key: string | null;
}

async function openInstallation(given: GivenPlan, { clock, folder, random }: InitTools): Promise<Opened> {
  const kept = await folder.read();
  if (kept !== null) return { installation: await completed(sameAs(kept, given), folder), key: null };
  const made = await createInstallation(planOf(given, folder), random, clock.nowMs());
  if (await folder.create(made.installation)) return made;
  const theirs = await folder.read();
  if (theirs === null) throw new Error(`${folder.path} vanished while it was written.`);
  return { installation: sameAs(theirs, given), key: null };
}

function planOf(given: GivenPlan, folder: InstallationFolder): InstallationPlan {
  const plan = completePlan(given, folder.path);
  const problems = problemsOf(plan);
  if (problems.length === 0) return plan;
  throw misuse(`nothing was written: ${problems.join('; ')}`, '`berth init --help` says what can be given.');
}

/** An older version knew fewer roles. */
async function completed(kept: InstallationRecord, folder: InstallationFolder): Promise<InstallationRecord> {
  const nats = completeNatsKeys(kept.nats);
  if (nats === kept.nats) return kept;
  const installation = { ...kept, nats };
  await folder.replace(installation);
  return installation;
}

/** An installation that is there cannot be laid out anew: its files may be in use, and have been changed. */
function sameAs(kept: InstallationRecord, given: GivenPlan): InstallationRecord {
  const names = Object.keys(given) as (keyof GivenPlan)[];
  const differing = names.filter(
    (name) => given[name] !== undefined && JSON.stringify(given[name]) !== JSON.stringify(kept.plan[name]),
  );
  if (differing.length === 0) return kept;
  const said = differing.map((name) => `${name} is ${valueOf(kept.plan, name)}`).join(', ');
  throw misuse(
    `the folder holds an installation that was made otherwise: ${said}.`,
    'Leave these options out to complete it, change its files by hand, or make another one in another folder.',
  );
}

/** There may be a password in an address of the database. */
const valueOf = (plan: InstallationPlan, name: keyof InstallationPlan): string =>
  name === 'databaseUrl' ? 'another one' : JSON.stringify(plan[name]);

async function changeKey(kept: InstallationRecord, { folder, random }: InitTools): Promise<string> {
  const { firstKey, key } = createFirstKey(random);
  const installation = { ...kept, firstKey };
  await folder.replace(installation);
  await writeSeed(installation, folder);
  return key;
}

const SEED_LINE = /^BERTH_SEED_API_KEY_HASH=.*$/m;

/** The rest of the file may have been changed by hand. */
async function writeSeed({ firstKey }: InstallationRecord, folder: InstallationFolder): Promise<void> {
  const text = (await folder.readFile(MIGRATE_PATH)) ?? '';
  const line = `BERTH_SEED_API_KEY_HASH=${seedOf(firstKey)}`;
  const changed = SEED_LINE.test(text) ? text.replace(SEED_LINE, line) : `${text}${line}\n`;
  await folder.overwrite({ path: MIGRATE_PATH, text: changed, isSecret: true });
}

async function writeFiles(
  files: readonly InstallationFile[],
  folder: InstallationFolder,
): Promise<Pick<InitOutcome, 'written' | 'kept' | 'differing'>> {
  const written: string[] = [];
  const kept: string[] = [];
  const differing: string[] = [];
  for (const file of files) {
    if (await folder.writeIfMissing(file)) {
      written.push(file.path);
    } else {
      kept.push(file.path);
      if ((await folder.readFile(file.path)) !== file.text) differing.push(file.path);
    }
  }
  return { written, kept, differing };
}

async function writeCertificates(
  installation: InstallationRecord,
  isRenewing: boolean,
  { clock, folder }: InitTools,
): Promise<Pick<InitOutcome, 'written' | 'replaced' | 'kept'>> {
  const written: string[] = [];
  const replaced: string[] = [];
  const kept: string[] = [];
  for (const wanted of serverCertificates(installation.plan)) {
    const isThere = (await folder.readFile(wanted.path)) !== null;
    if (isThere && !isRenewing) {
      kept.push(wanted.path);
      continue;
    }
    await folder.overwrite(await certificateFile(installation, wanted, clock.nowMs()));
    (isThere ? replaced : written).push(wanted.path);
  }
  return { written, replaced, kept };
}

/** Both in one file, so that no server ever finds a certificate beside the key of another. */
async function certificateFile(
  { authority, authorityUntilMs }: InstallationRecord,
  { names, path }: ServerCertificate,
  nowMs: number,
): Promise<InstallationFile> {
  const untilMs = Math.min(nowMs + CERTIFICATE_MS, authorityUntilMs);
  const { certificate, privateKey } = await issueCertificate(authority, { names, fromMs: nowMs, untilMs });
  return { path, text: `${certificate}${privateKey}`, isSecret: true };
}
