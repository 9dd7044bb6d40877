/** An image as `docker save` writes it, without its names. */
export interface SavedImage {
  /** JSON. */
  readonly config: Buffer;
  /** Tar archives, lowest first. */
  readonly layers: readonly Buffer[];
}

interface SavedManifest {
  readonly Config: string;
  readonly Layers: readonly string[];
}

/** Reads the archive of one image; every engine writes `manifest.json` into it, whatever else is there. */
export function readSavedImage(archive: Buffer): SavedImage {
  const files = filesOf(archive);
  const file = (path: string): Buffer => {
    const content = files.get(path);
    if (content === undefined) throw new Error(`The archive has no ${path}.`);
    return content;
  };
  const [manifest] = JSON.parse(file('manifest.json').toString()) as readonly SavedManifest[];
  if (manifest === undefined) throw new Error('The archive has no image.');
  return { config: file(manifest.Config), layers: manifest.Layers.map(file) };
}

const BLOCK = 512;
const PLAIN_FILES = ['0', '\0'];

/** Plain files of a tar archive by their paths, which an engine keeps below 100 characters. */
function filesOf(archive: Buffer): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0;) {
    const text = (from: number, to: number): string => archive.toString('latin1', at + from, at + to);
    const size = Number.parseInt(text(124, 136), 8);
    const [path = ''] = text(0, 100).split('\0');
    const start = at + BLOCK;
    if (PLAIN_FILES.includes(text(156, 157))) files.set(path, archive.subarray(start, start + size));
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
