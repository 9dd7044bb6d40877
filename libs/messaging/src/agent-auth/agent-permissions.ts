import { hostSubject, inboxPrefix, refusedInboxPrefix } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { Permissions } from '@nats-io/jwt';

/**
 * All that one agent may do on the broker: speak under its own host, hear what is sent to it, get its answers.
 * No JetStream subject and no common inbox is among it, so a stolen host sees nothing of another.
 *
 * @throws RangeError when the id could act as more than one subject token
 */
export function agentPermissions(hostId: HostId): Required<Pick<Permissions, 'pub' | 'sub'>> {
  if (!SUBJECT_TOKEN.test(hostId)) throw new RangeError(`"${hostId}" cannot stand in a subject.`);
  return {
    pub: { allow: [`agents.${hostId}.up.>`] },
    sub: { allow: [`agents.${hostId}.down.>`, `${inboxPrefix(hostId)}.>`] },
  };
}

/**
 * All that somebody may do whose one-time token is good no longer: ask to join, and hear why not. The answers come where
 * no agent of that host gets its own.
 *
 * @throws RangeError when the id could act as more than one subject token
 */
export function refusedPermissions(hostId: HostId): Required<Pick<Permissions, 'pub' | 'sub'>> {
  if (!SUBJECT_TOKEN.test(hostId)) throw new RangeError(`"${hostId}" cannot stand in a subject.`);
  return { pub: { allow: [hostSubject(hostId, 'join')] }, sub: { allow: [`${refusedInboxPrefix(hostId)}.>`] } };
}

// Neither a dot nor a wildcard: a host named `*` would otherwise be let in as every host.
const SUBJECT_TOKEN = /^[A-Za-z0-9_-]{1,64}$/;
