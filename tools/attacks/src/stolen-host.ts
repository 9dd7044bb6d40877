import { createHash } from 'node:crypto';
import {
  hostSubject,
  inboxPrefix,
  jobSubject,
  noticeSubject,
  ownerSubject,
  routerSubject,
  WIRE_VERSION,
  withdrawSubject,
  type JoinRequest,
} from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { AgentTransport, connectNats, logShard } from '@berth/messaging';
import { PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import type { Attack, Attacking, AttackTarget } from './attack.js';

const CONNECT_WITHIN_MS = 20_000;
const JOIN_MS = 10_000;
const ROUND_MS = 100;
const MESSAGE_BYTES = 200_000;

/** Speaks with the identity of a host as its agent never would. */
export const stolenHost: Attack = async (attacking) => {
  const { signal, tally } = attacking;
  const hostId = hostOf(attacking.target.joinToken);
  const secret = systemRandom.id(48);
  await join({ attacking, hostId, secret });
  const connection = await connectAs(attacking.target, hostId, { user: hostId, pass: secret });
  void listenForRefusals(connection, tally.note.bind(tally));
  tally.note('joined');
  while (!signal.aborted && !connection.isClosed()) {
    for (const { subject, reply, body } of messages(hostId, secret, attacking.target)) {
      connection.publish(subject, body, reply === undefined ? {} : { reply });
      tally.note('sent');
    }
    await systemClock.sleep(ROUND_MS, signal);
  }
  await connection.close();
};

interface Message {
  readonly subject: string;
  readonly reply?: string;
  readonly body: string;
}

/**
 * One round: answers wanted where logs, claims and snapshots lie and where routers ask each other, what routers alone may
 * say, other hosts' subjects, and what nobody can read.
 */
function messages(hostId: HostId, secret: string, { victimEndpointId: endpointId }: AttackTarget): readonly Message[] {
  const take = wire({ wishes: [{ takeId: 't', endpointId, workerId: 'w', slots: 1, waitMs: 1 }] });
  const shard = logShard(endpointId);
  const ofOwners = [`log.${shard}.${endpointId}`, `$KV.shards.${shard}`, ownerSubject(shard, 'perform')];
  const ofRouters = [...ofOwners, noticeSubject('x'), routerSubject('x'), '_INBOX_router.x', 'demand.x'];
  const places = [...ofRouters, `$KV.endpoints.${endpointId}`, '$KV.hosts.x'];
  const report = { secret, instanceId: 'x', sequence: systemClock.nowMs(), inventory: null };
  return [
    ...places.map((reply) => ({ subject: jobSubject(hostId, 'take'), reply, body: take })),
    ...places.map((reply) => ({ subject: hostSubject(hostId, 'report'), reply, body: wire(report) })),
    ...ofRouters.map((subject) => ({ subject, body: '{}' })),
    { subject: jobSubject('other' as HostId, 'take'), body: take },
    { subject: '$KV.endpoints.x', body: '{}' },
    { subject: jobSubject(hostId, 'done'), body: 'no JSON' },
    { subject: jobSubject(hostId, 'renew'), body: wire({ leases: 'all' }) },
    { subject: jobSubject(hostId, 'renew'), body: wire(null) },
    { subject: withdrawSubject(hostId), body: wire([[]]) },
    { subject: hostSubject(hostId, 'report'), body: wire({ ...report, workers: 'x'.repeat(MESSAGE_BYTES) }) },
    {
      subject: hostSubject(hostId, 'report'),
      body: wire({ ...report, workers: Array.from({ length: 2_000 }, (_, n) => ({ workerId: `w${n}\u0000` })) }),
    },
  ];
}

const wire = (body: unknown): string => JSON.stringify({ v: WIRE_VERSION, body });

const hostOf = (token: string): HostId => (/^bjt_([A-Za-z0-9-]+)_/.exec(token)?.[1] ?? '') as HostId;

interface Joining {
  readonly attacking: Attacking;
  readonly hostId: HostId;
  readonly secret: string;
}

async function join({ attacking: { target }, hostId, secret }: Joining): Promise<void> {
  const connection = await connectAs(target, hostId, { user: 'join', pass: target.joinToken });
  const request: JoinRequest = {
    token: target.joinToken,
    secretHash: createHash('sha256').update(secret).digest('hex'),
    // Nothing can be placed on it: it is there to speak, not to work.
    inventory: {
      vcpus: 1,
      isOvercommitted: false,
      memoryBytes: 1,
      diskBytes: 1,
      gpus: [],
      areGpusSimulated: false,
      cudaVersion: null,
      runtime: 'process',
      images: [],
    },
  };
  await new AgentTransport(connection).request(hostSubject(hostId, 'join'), request, { timeoutMs: JOIN_MS });
  await connection.close();
}

const connectAs = (
  { natsUrl }: AttackTarget,
  hostId: HostId,
  login: { readonly user: string; readonly pass: string },
): Promise<NatsConnection> =>
  connectNats({
    url: natsUrl,
    name: 'stolen host',
    credentials: { kind: 'password', ...login },
    inboxPrefix: inboxPrefix(hostId),
    connectWithinMs: CONNECT_WITHIN_MS,
    clock: systemClock,
    random: systemRandom,
  });

async function listenForRefusals(connection: NatsConnection, note: (what: string) => void): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'error') note(status.error instanceof PermissionViolationError ? 'refused by broker' : 'error');
    else if (status.type !== 'ping') note(status.type);
  }
}
