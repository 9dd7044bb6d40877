import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError } from '../runtime-error.js';

/** An image of the process runtime: a folder with `worker.json`. */
export interface ImageFolder {
  readonly folder: string;
  /** Program and arguments; the endpoint's own are appended. */
  readonly command: readonly [string, ...string[]];
  /** Shell command lines, run in order in the folder, once per content. */
  readonly setup: readonly string[];
}

const IMAGE = /^local\/([A-Za-z0-9][A-Za-z0-9._-]*)(?::[A-Za-z0-9_][A-Za-z0-9._-]*)?$/;
const MANIFEST = 'worker.json';

/**
 * Finds the folder of `local/NAME[:tag]`. Any tag names the same folder.
 * @throws RuntimeError `image-missing`
 */
export async function findImageFolder(imagesFolder: string, image: string): Promise<ImageFolder> {
  const name = IMAGE.exec(image)?.[1];
  if (name === undefined) {
    throw new RuntimeError('image-missing', `The process runtime runs images named local/NAME only, not ${image}.`);
  }
  const folder = join(imagesFolder, name);
  const manifest = join(folder, MANIFEST);
  return { folder, ...parseManifest(await readManifest(manifest, image), manifest) };
}

/** Names of all images in the folder. */
export async function listImages(imagesFolder: string): Promise<readonly string[]> {
  const entries = await readdir(imagesFolder, { withFileTypes: true }).catch(() => []);
  const images = await Promise.all(
    entries.map(async ({ name }) => {
      const isImage = await stat(join(imagesFolder, name, MANIFEST)).then(
        (found) => found.isFile(),
        () => false,
      );
      return isImage && IMAGE.test(`local/${name}`) ? [`local/${name}`] : [];
    }),
  );
  return images.flat().sort();
}

async function readManifest(path: string, image: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new RuntimeError('image-missing', `Image ${image} is not here: ${path} cannot be read.`, { cause });
  }
}

function parseManifest(text: string, path: string): Pick<ImageFolder, 'command' | 'setup'> {
  const refuse = (why: string): RuntimeError => new RuntimeError('image-missing', `${path} cannot be used: ${why}.`);
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    throw refuse('it is not JSON');
  }
  const { command, setup = [] } = (manifest ?? {}) as { readonly command?: unknown; readonly setup?: unknown };
  if (!isWordList(command) || !isNotEmpty(command)) throw refuse('"command" must be a list of at least one word');
  if (!isWordList(setup)) throw refuse('"setup" must be a list of shell command lines');
  return { command, setup };
}

const isWordList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((word) => typeof word === 'string');

const isNotEmpty = (words: readonly string[]): words is readonly [string, ...string[]] => words.length > 0;
