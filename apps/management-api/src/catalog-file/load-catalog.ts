import { open } from 'node:fs/promises';
import { readJson } from '@berth/contracts';
import { SHIPPED_CATALOG, SHIPPED_TABLES, readCatalogFile, type HardwareCatalog } from '@berth/domain';
import { StartupError } from '@berth/telemetry';

const FILE_MAX_BYTES = 262_144;

/**
 * The catalog of this installation, read once at the start.
 *
 * @param path null: the shipped one
 * @throws StartupError that names the variable and every place in the file that is wrong
 */
export async function loadCatalog(path: string | null): Promise<HardwareCatalog> {
  if (path === null) return SHIPPED_CATALOG;
  const file = readJson(await contentOf(path));
  if (file.kind === 'unreadable') throw refusal(path, [file.reason]);
  const reading = readCatalogFile(file.value, SHIPPED_TABLES);
  if (reading.kind === 'refused') throw refusal(path, reading.problems);
  return reading.catalog;
}

/** Never more than the bound, whatever the path leads to. */
async function contentOf(path: string): Promise<Uint8Array> {
  const content = await contentUpTo(FILE_MAX_BYTES + 1, path).catch((error: unknown) => {
    throw refusal(path, [`it cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`]);
  });
  if (content.length > FILE_MAX_BYTES) throw refusal(path, [`it has more than ${FILE_MAX_BYTES} bytes`]);
  return content;
}

async function contentUpTo(maxBytes: number, path: string): Promise<Uint8Array> {
  const content = Buffer.alloc(maxBytes);
  const file = await open(path);
  try {
    let length = 0;
    for (let count = -1; count !== 0 && length < maxBytes; length += count) {
      count = (await file.read(content, length, maxBytes - length)).bytesRead;
    }
    return content.subarray(0, length);
  } finally {
    await file.close();
  }
}

const refusal = (path: string, problems: readonly string[]): StartupError =>
  new StartupError(`BERTH_CATALOG_FILE, ${path}, cannot be used:\n${problems.map((line) => `  ${line}`).join('\n')}`);
