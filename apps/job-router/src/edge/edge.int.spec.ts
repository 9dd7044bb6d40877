import { ROUTER_INBOX, ownerSubject, type OwnerCommand } from '@berth/contracts';
import { INLINE_INPUT_MAX_BYTES, type JobSight } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import {
  Broker,
  JetStreamBlobs,
  JetStreamChunks,
  OwnerRequests,
  encodeOwnerReply,
  ensureTopology,
  logShard,
  readOwnerQuestion,
} from '@berth/messaging';
import { MetricRegistry } from '@berth/telemetry';
import { useNatsServer } from '@berth/testing/servers';
import { expect, test } from '@jest/globals';
import { ENDPOINT, named, requestOf, secretsOf, textOf } from '../../test/fixtures/edge-scene.js';
import { EndpointOwner } from '../../test/fixtures/endpoint-owner.js';
import { JobSubmissions } from './job-submissions.js';
import { JobWishes } from './job-wishes.js';
import { NatsOwners, questionMetrics } from '../owners/index.js';
import { OwnedJobs } from './owned-jobs.js';
import { OwnerCommands } from './owner-commands.js';

const nats = useNatsServer();
const [clock, random] = [systemClock, systemRandom];

/** The owner of the endpoint's shard in another process: the real rules behind the real codec. */
async function serveOwner(): Promise<EndpointOwner> {
  const owner = new EndpointOwner(() => clock.nowMs());
  const connection = await nats.connect();
  connection.subscribe(ownerSubject(logShard(ENDPOINT.id), 'perform'), {
    callback: (_, message) => {
      const asked = readOwnerQuestion(message.data);
      if (asked.kind !== 'value') throw new Error(asked.reason);
      const { command } = asked.value.question as { readonly command: OwnerCommand };
      message.respond(encodeOwnerReply({ kind: 'answer', answer: owner.perform(command) }));
    },
  });
  await connection.flush();
  return owner;
}

async function openEdge(): Promise<OwnedJobs> {
  const connection = await nats.connect({ inboxPrefix: ROUTER_INBOX });
  const broker = await Broker.over({ connection, inboxPrefix: ROUTER_INBOX });
  const size = { replicas: 1, storageBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 } as const;
  await ensureTopology({ broker, part: 'jobs', size, clock, random, onChange: () => undefined });
  const [blobs, chunks] = [new JetStreamBlobs(broker), new JetStreamChunks(broker)];
  const requests = new OwnerRequests(broker, clock);
  const metrics = questionMetrics(new MetricRegistry());
  const owners = new NatsOwners({ local: () => Promise.resolve('silent'), requests, clock, random, metrics });
  const commands = new OwnerCommands({ owners, clock });
  const wishes = new JobWishes({ blobs, clock, logger: {} as never });
  const submissions = new JobSubmissions({ commands, wishes, random, secrets: secretsOf(1) });
  const watches = { watch: () => ({}) as never, watcherOf: () => null };
  return new OwnedJobs({ owners, commands, submissions, watches, blobs, chunks, clock, random });
}

test('a list larger than a message reaches the owner in another process whole, with its large inputs beside the log', async () => {
  const [owner, edge] = [await serveOwner(), await openEdge()];
  const bytes = (item: number): number => (item % 10 === 9 ? 700_000 : INLINE_INPUT_MAX_BYTES);
  const { isReplayed, outcomes } = await edge.submit(requestOf(40, { name: named(), bytes }));
  expect(isReplayed).toBe(false);
  expect(outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.id : null))).toEqual([
    ...owner.state.jobs.keys(),
  ]);
  expect(await edge.submit(requestOf(40, { name: named(), bytes }))).toEqual({ isReplayed: true, outcomes });
  const accepted = owner.facts.flatMap((fact) => (fact.kind === 'submitted' ? [fact.job] : []));
  for (const [item, { body, jobId }] of accepted.entries()) {
    const sight = { endpointId: ENDPOINT.id, jobId, output: body.input } as JobSight;
    expect((await edge.outputOf(sight)) === textOf(bytes(item), item)).toBe(true);
    expect(body.input.kind).toBe(item % 10 === 9 ? 'blob' : 'inline');
  }
  const [first] = accepted;
  expect(await edge.cancel({ endpointId: ENDPOINT.id, jobId: first?.jobId as never })).toMatchObject({
    state: 'CANCELLED',
  });
  expect(await edge.purge(ENDPOINT.id)).toBe(39);
});
