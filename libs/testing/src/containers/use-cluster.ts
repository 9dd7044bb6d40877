import { makeTempFolder, startCluster, type Cluster, type TempFolder } from '@berth/servers';
import { afterAll, beforeAll } from '@jest/globals';

/** A cluster of one spec file; for specs named `*.cluster.spec.ts` only. */
export interface ClusterFixture {
  readonly cluster: Cluster;
}

export interface UseClusterOptions {
  /** True: images, and what containers write, are in memory, for suites with large images. */
  readonly isInMemory?: boolean;
}

/** Its programs may have to be built, and another spec may have the machine's only cluster. */
const START_TIMEOUT_MS = 30 * 60_000;
const STOP_TIMEOUT_MS = 120_000;

/** Call once at the top of a spec: starts a cluster before its first test and leaves nothing of it after its last. */
export const useCluster = (options: UseClusterOptions = {}): ClusterFixture => {
  let folder: TempFolder | undefined;
  let cluster: Cluster | undefined;
  beforeAll(async () => {
    folder = await makeTempFolder('berth-cluster');
    cluster = await startCluster({ folder: folder.path, isInMemory: options.isInMemory === true });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await cluster?.stop();
    await folder?.remove();
  }, STOP_TIMEOUT_MS);
  return {
    get cluster() {
      if (cluster === undefined) throw new Error('The cluster starts in beforeAll.');
      return cluster;
    },
  };
};
