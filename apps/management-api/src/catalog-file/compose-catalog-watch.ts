import type { HardwareCatalog } from '@berth/domain';
import type { OpenProcess } from '@berth/telemetry';
import type { Database } from '../persistence/index.js';
import { catalogDigest } from './catalog-digest.js';
import { CatalogWatch } from './catalog-watch.js';
import { RunningCatalogsStore } from './running-catalogs.store.js';

interface WatchedProcess extends Pick<OpenProcess, 'clock' | 'logger' | 'metrics' | 'onStop' | 'random'> {
  /** What the program is called. */
  readonly app: string;
  readonly catalog: HardwareCatalog;
  /** Null: the shipped catalog. */
  readonly file: string | null;
  readonly database: Database;
}

/** Compares the catalog of this process with those of the others, until it stops. */
export function watchCatalog({ app, catalog, database, file, onStop, random, ...tools }: WatchedProcess): void {
  const own = { process: random.uuid(), app, digest: catalogDigest(catalog), file };
  const watch = new CatalogWatch({ ...tools, own, store: new RunningCatalogsStore(database) });
  watch.start();
  onStop('catalog watch', () => watch.stop());
}
