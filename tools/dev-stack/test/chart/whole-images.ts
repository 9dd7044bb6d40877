import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runCommand, startEngine, type Cluster, type ContainerEngine } from '@berth/servers';
import { environmentWith } from '../config.js';

const SCRIPTS = resolve(import.meta.dirname, '../../../images');
const OURS = ['management-api', 'job-router', 'worker-agent', 'nats-server'] as const;
/** Returns its input. */
export const ECHO = 'local/node-echo:latest';
/** Serves HTTP and WebSockets. */
export const BALANCED = 'local/balanced:latest';
const BALANCED_WORKER = join(import.meta.dirname, '../workers/balanced/worker.mjs');
const BALANCED_DOCKERFILE = `FROM berth/node-packed:1
COPY worker.mjs /worker.mjs
ENTRYPOINT ["node", "/worker.mjs"]
`;
const BUILD_MS = 900_000;
const CALL_MS = 300_000;

/** Images that are called the same twice: each of ours has the tag `to` besides the version it was built as. */
export interface Versions {
  readonly from: string;
  readonly to: string;
}

/**
 * Packs the images of an installation and puts them into the node: ours, the stand-in for PostgreSQL, and two workers. The
 * engine that builds them has ended when this has.
 */
export async function putImagesIntoNode(
  cluster: Cluster,
  options: Versions & { readonly folder: string },
): Promise<void> {
  const engine = await startEngine({ folder: options.folder, isInMemory: true });
  try {
    // Where the engine keeps its own, which is memory where there is enough.
    const work = join(options.folder, 'data', 'packed');
    await mkdir(work);
    const env = environmentWith({ DOCKER_HOST: engine.host, TMPDIR: work }) as Variables;
    await buildAll(engine, work, env);
    await moveAll(cluster, { archive: join(work, 'images.tar'), env, ...options });
  } finally {
    await engine.stop();
  }
}

type Variables = Readonly<Record<string, string>>;

async function buildAll(engine: ContainerEngine, work: string, env: Variables): Promise<void> {
  const how = { timeoutMs: BUILD_MS, env };
  await runCommand(join(SCRIPTS, 'build.sh'), ['--packed', ...OURS, 'node-echo'], how);
  await runCommand(join(SCRIPTS, 'postgres.sh'), ['berth/python-base:bookworm'], how);
  await buildBalanced(engine, join(work, 'balanced'));
}

async function moveAll(
  cluster: Cluster,
  { archive, env, from, to }: Versions & { readonly archive: string; readonly env: Variables },
): Promise<void> {
  const docker = (...words: readonly string[]): Promise<string> =>
    runCommand('docker', words, { timeoutMs: CALL_MS, env });
  const names: string[] = ['berth/postgres-stand-in:18', ECHO, BALANCED];
  for (const name of OURS) {
    await docker('tag', `berth/${name}:${from}`, `berth/${name}:${to}`);
    names.push(`berth/${name}:${from}`, `berth/${name}:${to}`);
  }
  await docker('save', '--output', archive, ...names);
  await cluster.loadImage(archive);
}

async function buildBalanced(engine: ContainerEngine, folder: string): Promise<void> {
  await mkdir(folder);
  await cp(BALANCED_WORKER, join(folder, 'worker.mjs'));
  await writeFile(join(folder, 'Dockerfile'), BALANCED_DOCKERFILE);
  await engine.buildImage(BALANCED, folder);
}
