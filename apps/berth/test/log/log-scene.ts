import {
  ENDPOINT_BOUNDS_DEFAULT,
  NOTHING_UNREAD,
  encodeJson,
  type AttemptProof,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import { LogOwner, type StoredBatch } from '@berth/endpoint-log';
import { atEndOfTurn, systemClock, systemRandom } from '@berth/lifecycle';
import { ROUTER_INBOX } from '@berth/contracts';
import { Broker, LOG_SHARDS, NatsLogBroker, ensureTopology, logShard } from '@berth/messaging';
import { MsgHdrsImpl, type NatsConnection } from '@nats-io/transport-node';

const HOST = 'host-1' as HostId;
const SIZE = { replicas: 1, storageBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 } as const;

/** What must never be shown, and what only at the reader's wish. */
export const SECRETS = ['sealed-secret', 'token-secret', 'hook-secret', 'key-secret'] as const;
export const PAYLOADS = ['input-text', 'output-text', 'error-text', 'tail-text'] as const;

/** A router that writes endpoints' logs to a real broker. */
export class LogScene {
  readonly broker: Broker;
  readonly logs: NatsLogBroker;
  readonly #owner: LogOwner;

  private constructor(broker: Broker) {
    this.broker = broker;
    this.logs = new NatsLogBroker({ broker, clock: systemClock });
    this.#owner = new LogOwner({
      ...{ routerId: 'router-1', broker: this.logs, clock: systemClock, random: systemRandom, shardOf: logShard },
      atEndOfTurn,
      trusts: () => true,
      purgeable: () => NOTHING_UNREAD,
      onTouched: () => undefined,
      onDeliveriesDue: () => undefined,
      onLooked: () => undefined,
      onEvent: () => undefined,
    });
  }

  /** @param connection with the rights of a router, and its inbox */
  static async over(connection: NatsConnection): Promise<LogScene> {
    const broker = await Broker.over({ connection, inboxPrefix: ROUTER_INBOX });
    const tools = { clock: systemClock, random: systemRandom, onChange: () => undefined };
    await ensureTopology({ broker, part: 'jobs', size: SIZE, ...tools });
    const scene = new LogScene(broker);
    for (let shard = 0; shard < LOG_SHARDS; shard += 1) await scene.#owner.take(shard);
    return scene;
  }

  /** Whoever has endpoints open lets go of them. */
  stop(): void {
    this.#owner.stop();
  }

  perform(endpointId: EndpointId, command: EndpointCommand): Promise<CommandOutcome> {
    return new Promise((resolve, reject) => {
      this.#owner.ask(endpointId, {
        use: (log) =>
          log.perform(command, (outcome) => {
            if (outcome.kind === 'settled') resolve(outcome.answer);
            else reject(new Error(outcome.kind));
          }),
        refuse: (reason) => reject(new Error(reason)),
      });
    });
  }

  async submit(endpointId: EndpointId, input: unknown = PAYLOADS[0]): Promise<JobId> {
    const jobId = systemRandom.uuid() as JobId;
    const json = encodeJson(input);
    const body = { input: { kind: 'inline', json }, extras: encodeJson({ policy: 1 }), ...SEALED } as const;
    const times = { ttlMs: 86_400_000, retentionMs: 60_000, executionTimeoutMs: 600_000 };
    const webhook = 'https://user:hook-secret@hooks.example.com/hook-secret';
    const job = {
      jobId,
      ...times,
      body,
      bodyBytes: json.length,
      webhook,
      isLowPriority: false,
      origin: 'run',
    } as const;
    const key = { name: `key-secret-${jobId}`, fingerprint: 'key-secret', firstId: jobId, size: 1, item: 0 };
    const asked = { kind: 'submit', sentAtMs: systemClock.nowMs(), jobs: [job], key, takers: [] } as const;
    await this.perform(endpointId, { ...asked, bounds: ENDPOINT_BOUNDS_DEFAULT });
    return jobId;
  }

  async take(endpointId: EndpointId): Promise<AttemptProof> {
    const wish = { takeId: systemRandom.id(20), hostId: HOST, workerId: 'worker-1' as WorkerId, slots: 1 };
    const wishes = [{ ...wish, secret: 'token-secret' }];
    const answer = await this.perform(endpointId, { kind: 'take', sentAtMs: systemClock.nowMs(), wishes });
    const given = answer.kind === 'takes' ? answer.takes[0]?.jobs[0] : undefined;
    if (given === undefined) throw new Error('nothing was taken');
    return { ...given, hostId: HOST };
  }

  async fail(endpointId: EndpointId, proof: AttemptProof): Promise<void> {
    const output = { kind: 'inline', json: encodeJson('output-text') } as const;
    const result = { state: 'FAILED', error: 'error-text', output, outputBytes: 13, chunks: 0 } as const;
    await this.perform(endpointId, { kind: 'finish', ...proof, ...result, logTail: ['tail-text', 'more'] });
  }

  async purge(endpointId: EndpointId): Promise<void> {
    const purgeId = systemRandom.uuid();
    await this.perform(endpointId, { kind: 'purge', sentAtMs: systemClock.nowMs(), purgeId });
  }

  async batches(endpointId: EndpointId): Promise<StoredBatch[]> {
    const batches: StoredBatch[] = [];
    for await (const entry of this.logs.read(endpointId, 0)) if ('facts' in entry) batches.push(entry);
    return batches;
  }

  /** Puts a message there that no owner would have written. Returns where it lies. */
  async litter(endpointId: EndpointId, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const added = new MsgHdrsImpl();
    for (const [name, value] of Object.entries(headers)) added.set(name, value);
    const answer = await this.broker.request(`log.${logShard(endpointId)}.${endpointId}`, 'litter', added);
    return (JSON.parse(answer.string()) as { readonly seq: number }).seq;
  }

  /** Puts a batch there that no owner would have written, behind the last entry unless said otherwise. */
  async doctor(endpointId: EndpointId, batch: Pick<StoredBatch, 'facts'> & Partial<StoredBatch>): Promise<number> {
    const last = (await this.batches(endpointId)).at(-1);
    if (last === undefined) throw new Error('there is nothing to doctor');
    const { index, sequence: after } = last;
    const outcome = await this.logs.append({ endpointId, batchId: systemRandom.uuid(), index, after, ...batch });
    if (outcome.kind !== 'stored') throw new Error(outcome.kind);
    return outcome.sequence;
  }
}

const SEALED = { sealedExtras: 'sealed-secret', traceparent: null };
