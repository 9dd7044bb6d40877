import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

// `src` and `dist` lie equally deep, so the same steps lead out of both.
const here = dirname(fileURLToPath(import.meta.url));

/** Folder of the repository that this package belongs to. */
const repositoryFolder = resolve(here, '..', '..', '..');

/** Downloaded programs; `npm ci` empties it, and they come back in a second. */
export const cacheFolderDefault = resolve(repositoryFolder, 'node_modules', '.cache', 'berth');

/** Shell scripts of the container engine. */
export const engineScriptsFolder = resolve(repositoryFolder, 'tools', 'engine');

/** Shell scripts of the cluster. */
export const clusterScriptsFolder = resolve(repositoryFolder, 'tools', 'kubernetes');

/** Packages of the system that were unpacked, not installed. */
export const systemPackagesFolder = resolve(repositoryFolder, '.cache');
