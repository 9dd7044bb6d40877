import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ContainerEngine } from '@berth/servers';
import { readSavedImage, type SavedImage } from './saved-image.js';

const run = promisify(execFile);
const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024;

/** Takes an image out of the engine, to be served from elsewhere; what it shares with no other image is gone from there. */
export async function saveImage(engine: ContainerEngine, name: string): Promise<SavedImage> {
  const docker = (...words: readonly string[]): Promise<{ readonly stdout: Buffer }> =>
    run('docker', ['--host', engine.host, ...words], { encoding: 'buffer', maxBuffer: ARCHIVE_BYTES_MAX });
  const { stdout } = await docker('save', name);
  await docker('rmi', '--force', name);
  // What was built on the way has its layers too.
  await docker('image', 'prune', '--force');
  return readSavedImage(stdout);
}
