import { makeTempFolder, startNatsCluster, type NatsCluster, type TempFolder } from '@berth/servers';
import { afterAll, beforeAll } from '@jest/globals';

/** Three nats-servers of one spec file, on free ports, with empty stores. */
export interface NatsClusterFixture {
  readonly cluster: NatsCluster;
}

const START_TIMEOUT_MS = 120_000;

/** Call once at the top of a spec: starts the servers before its first test and removes them after its last. */
export const useNatsCluster = (): NatsClusterFixture => {
  let folder: TempFolder | undefined;
  let cluster: NatsCluster | undefined;
  beforeAll(async () => {
    folder = await makeTempFolder('berth-nats');
    cluster = await startNatsCluster({ storeDir: folder.path });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    // The stores are thrown away, so an orderly end would only cost time.
    await cluster?.kill();
    await folder?.remove();
  }, START_TIMEOUT_MS);
  return {
    get cluster(): NatsCluster {
      if (cluster === undefined) throw new Error('The servers start in beforeAll.');
      return cluster;
    },
  };
};
