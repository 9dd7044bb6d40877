import { runCommand } from '../processes/run-command.js';
import { BASE_IMAGE, type ContainerEngine } from './start-engine.js';

/** Image that `loadNodeBase` makes: the base image with the Node that runs this process. */
export const NODE_BASE_IMAGE = 'berth/node-base:1';

const STEP_MS = 60_000;

/** The base image has no Node, and no registry is asked: this process's own program is put into it. */
export async function loadNodeBase(engine: ContainerEngine): Promise<void> {
  const docker = async (...words: readonly string[]): Promise<string> =>
    (await runCommand('docker', ['--host', engine.host, ...words], { timeoutMs: STEP_MS })).trim();
  const container = await docker('create', BASE_IMAGE, 'true');
  await docker('cp', '--follow-link', process.execPath, `${container}:/usr/local/bin/node`);
  await docker('commit', container, NODE_BASE_IMAGE);
  await docker('rm', container);
}
