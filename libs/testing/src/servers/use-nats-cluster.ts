import { makeTempFolder, startNatsCluster, type NatsCluster, type TempFolder } from '@berth/servers';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { connect } from '@nats-io/transport-node';
import { eventually } from '../clock/eventually.js';

/** Three nats-servers of one spec file, on free ports, with empty stores. */
export interface NatsClusterFixture {
  readonly cluster: NatsCluster;
}

const START_TIMEOUT_MS = 240_000;

/** Call once at the top of a spec: starts the servers before its first test and removes them after its last. */
export const useNatsCluster = (): NatsClusterFixture => {
  let folder: TempFolder | undefined;
  let cluster: NatsCluster | undefined;
  beforeAll(async () => {
    folder = await makeTempFolder('berth-nats');
    cluster = await startNatsCluster({ storeDir: folder.path });
    await untilStreamsCanBeMade(cluster);
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

const TRIAL = { deadlineMs: 120_000 };
const ANSWER_MS = 10_000;

/** Servers that are healthy, each by its own word, may not have heard enough of each other to place a stream. */
async function untilStreamsCanBeMade({ url }: NatsCluster): Promise<void> {
  const connection = await connect({ servers: url.split(',') });
  const ask = async (verb: string, question = {}): Promise<unknown> =>
    (await connection.request(`$JS.API.STREAM.${verb}.TRIAL`, JSON.stringify(question), { timeout: ANSWER_MS })).json();
  try {
    await eventually(async () => {
      const made = await ask('CREATE', { name: 'TRIAL', subjects: ['trial'], num_replicas: 3 });
      expect(made).not.toHaveProperty('error');
    }, TRIAL);
    // It is deleted when it is not found: an answer may have been lost.
    await eventually(async () => expect(await ask('DELETE')).toMatchObject({ error: { code: 404 } }), TRIAL);
  } finally {
    await connection.close();
  }
}
