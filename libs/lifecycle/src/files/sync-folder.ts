import { open } from 'node:fs/promises';

/** Makes the names in a folder durable: a synced file whose name is lost is lost. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
