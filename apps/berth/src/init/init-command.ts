import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemClock, systemRandom } from '@berth/lifecycle';
import type { Argv } from 'yargs';
import { EXIT_STATUS, misuse, type Command, type ToldOutcome } from '../program/index.js';
import { InstallationFolder } from './installation-folder.js';
import type { GivenPlan } from './installation-plan.js';
import { runInit, type InitOutcome } from './run-init.js';
import {
  AFTER_STEP,
  ROTATIONS,
  ROTATION_STEPS,
  runRotation,
  type RotationName,
  type RotationOutcome,
  type RotationStep,
} from './rotation/index.js';

/** What yargs makes of the options below. */
type InitArguments = GivenPlan & {
  readonly dir?: string;
  readonly databaseUrlFile?: string;
  readonly renewCertificates?: boolean;
  readonly newFirstKey?: boolean;
  readonly rotate?: RotationName;
  readonly step?: RotationStep;
};

/** `berth init DIR` */
export const initCommand: Command = (run) => ({
  command: 'init <dir>',
  describe: 'Write all that a secure installation needs into a folder',
  builder: (parser) => options(parser),
  handler: (parsed) =>
    run(parsed, async (output) => {
      requireOnce(parsed);
      const given = parsed as unknown as InitArguments;
      const { dir = '', newFirstKey = false, renewCertificates = false, rotate, step } = given;
      if (dir === '') throw misuse('the folder has no name.', 'Name the folder of the installation.');
      const folder = new InstallationFolder(resolve(dir));
      if (rotate !== undefined && step !== undefined) {
        output.say(describeRotation(await runRotation(folder, { name: rotate, step }, systemRandom)));
        return EXIT_STATUS.done;
      }
      const request = { given: await planOf(given), isRenewing: renewCertificates, isFirstKeyNew: newFirstKey };
      const outcome = await runInit(request, { folder, clock: systemClock, random: systemRandom });
      output.say(describe(folder.path, outcome));
      return EXIT_STATUS.done;
    }),
});

/** How an installation is laid out. */
const PLAN_OPTIONS = {
  brokers: { type: 'number', choices: [1, 3], describe: 'How many brokers (1)' },
  'broker-host': {
    type: 'string',
    array: true,
    describe:
      'Once for each broker: its names, with commas between; ours dial the first, agents the last (broker-1, …)',
  },
  'broker-port': { type: 'number', describe: 'Where brokers hear clients (4222)' },
  'peer-port': { type: 'number', describe: 'Where brokers hear each other (6222)' },
  'monitor-port': { type: 'number', describe: 'Where brokers show their health (8222)' },
  'monitor-host': { type: 'string', describe: 'Address for that (127.0.0.1)' },
  'broker-store': { type: 'string', describe: 'Folder of the streams, as brokers see it (/var/lib/nats)' },
  'storage-gib': { type: 'number', describe: 'What each broker may keep on disk, in GiB (20)' },
  'database-host': { type: 'string', describe: 'Where PostgreSQL is (postgres)' },
  'database-port': { type: 'number', describe: 'Its port (5432)' },
  'database-url': {
    type: 'string',
    conflicts: ['database-host', 'database-port'],
    describe: 'A database of your own, in place of these two',
  },
  'database-url-file': {
    type: 'string',
    conflicts: ['database-url', 'database-host', 'database-port'],
    describe: 'A file with that URL: on the command line others see its password',
  },
  listen: { type: 'string', describe: 'Address that our processes listen at (127.0.0.1); in containers 0.0.0.0' },
  'base-url': { type: 'string', describe: 'Where clients reach the management API (http://127.0.0.1:8000)' },
  'run-url': { type: 'string', describe: 'Where clients reach the job routers (http://127.0.0.1:8001)' },
  'lb-domain': { type: 'string', describe: 'Domain of load-balancing endpoints (localhost:8001)' },
  'seen-at': { type: 'string', describe: 'Path of the folder as the processes see it (its own)' },
} as const;

const OPTIONS = {
  ...PLAN_OPTIONS,
  'renew-certificates': { type: 'boolean', describe: "Give the servers' certificates another year" },
  'new-first-key': { type: 'boolean', describe: 'Make another first key in place of the one that was shown' },
  rotate: {
    type: 'string',
    choices: ROTATIONS,
    implies: 'step',
    conflicts: ['renew-certificates', 'new-first-key', ...Object.keys(PLAN_OPTIONS)],
    describe: 'Replace a secret, without a stop',
  },
  step: { type: 'string', choices: ROTATION_STEPS, implies: 'rotate', describe: 'Of that, in this order' },
} as const;

const options = (parser: Argv): Argv =>
  parser
    .positional('dir', { type: 'string', demandOption: true, describe: 'Folder of the installation' })
    .options(OPTIONS);

const NAMES: readonly (keyof GivenPlan)[] = [
  ...(['brokers', 'brokerHost', 'brokerPort', 'peerPort', 'monitorPort', 'monitorHost', 'brokerStore'] as const),
  ...(['storageGib', 'databaseHost', 'databasePort', 'databaseUrl', 'listen'] as const),
  ...(['baseUrl', 'runUrl', 'lbDomain', 'seenAt'] as const),
];

/** Without the rest of what yargs says. */
async function planOf({ databaseUrlFile, ...parsed }: InitArguments): Promise<GivenPlan> {
  const given: GivenPlan = Object.fromEntries(NAMES.map((name) => [name, parsed[name]]));
  return databaseUrlFile === undefined ? given : { ...given, databaseUrl: await readUrl(databaseUrlFile) };
}

async function readUrl(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const { message } = error as Error;
    throw misuse(
      `--database-url-file cannot be read: ${message}.`,
      'Name a file with the URL in it, and nothing else.',
    );
  }
}

/** Of an option that is given twice yargs makes a list, which no one of them is. */
function requireOnce(parsed: object): void {
  const given = new Map<string, unknown>(Object.entries(parsed));
  for (const [name, option] of Object.entries(OPTIONS)) {
    if ('array' in option || !Array.isArray(given.get(name))) continue;
    throw misuse(`--${name} is given more than once.`, 'Give it once.');
  }
}

function describe(folder: string, outcome: InitOutcome): ToldOutcome {
  const { authorityUntilMs, differing, firstKey, kept, replaced, written } = outcome;
  const isChanged = written.length + replaced.length > 0;
  return {
    json: { folder, written, replaced, kept, differing, firstKey, authorityUntil: new Date(authorityUntilMs) },
    lines: [
      ...written.map((path) => `written   ${path}`),
      ...replaced.map((path) => `replaced  ${path}`),
      ...(isChanged ? [] : [`${folder} has everything; nothing was changed.`]),
      ...differing.map((path) => `kept      ${path}, though this version would write it otherwise`),
      ...(firstKey === null ? NO_KEY : keyLines(folder, firstKey)),
    ],
  };
}

const describeRotation = ({ name, replaced, secrets, step }: RotationOutcome): ToldOutcome => ({
  json: { rotated: name, step, replaced, secrets, next: AFTER_STEP[name][step] },
  lines: [
    ...replaced.map((path) => `replaced  ${path}`),
    ...(replaced.length === 0 ? ['Nothing was changed: this step was made before.'] : []),
    ...secrets.map(({ id, state }) => `${state.padEnd(STATE_WIDTH)}  ${id}`),
    AFTER_STEP[name][step],
  ],
});

const STATE_WIDTH = 'replaced'.length;

const NO_KEY = [
  'The first key was shown by the run that made it. If that was cut off, or it is lost: `--new-first-key` makes another.',
];

const keyLines = (folder: string, key: string): readonly string[] => [
  '',
  `First key, with every scope: ${key}`,
  'It is shown this once and kept nowhere. It works after the next run of the migration (env/migrate.env).',
  `Keep ${folder}/offline where no process runs: it holds every secret of the installation.`,
];
