import { flag, id, listOf, objectOf, optional, orNull, text, amount } from '@berth/domain/shape';

/** A join token, as the management API answers it. */
export interface JoinToken {
  readonly hostId: string;
  readonly token: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** What the lines about a host say; the JSON has all that was answered. */
export interface HostAnswer {
  readonly id: string;
  readonly name: string;
  readonly dataCenterId: string;
  readonly state: string;
  readonly isOnline: boolean;
  readonly suspectBecause: string | null;
  readonly inventory: HostInventory | null;
  /** ISO 8601. */
  readonly lastSeenAt: string | null;
}

interface HostInventory {
  readonly vcpus: number;
  readonly memoryBytes: number;
  readonly gpus: readonly { readonly typeId: string }[];
  readonly runtime: string;
  /** Absent: its agent, or the management API, is of before agents told it. */
  readonly agentVersion?: string;
}

export interface HostDetail extends HostAnswer {
  readonly workers: readonly HostWorker[];
}

interface HostWorker {
  readonly id: string;
  readonly endpointId: string;
  readonly status: string;
  readonly reason: string;
}

const TOKEN_MAX = 1_024;
const GPUS_MAX = 1_024;
const WORKERS_MAX = 100_000;
const HOSTS_MAX = 100_000;

export const JOIN_TOKEN = objectOf<JoinToken>({ hostId: id, token: text(TOKEN_MAX), expiresAt: text() });

const HOST_MEMBERS = {
  id,
  name: text(),
  dataCenterId: text(),
  state: text(),
  isOnline: flag,
  suspectBecause: orNull(text()),
  inventory: orNull(
    objectOf<HostInventory>({
      vcpus: amount(),
      memoryBytes: amount(),
      gpus: listOf(objectOf({ typeId: text() }), GPUS_MAX),
      runtime: text(),
      agentVersion: optional(text()),
    }),
  ),
  lastSeenAt: orNull(text()),
};

export const HOST = objectOf<HostAnswer>(HOST_MEMBERS);

export const HOST_DETAIL = objectOf<HostDetail>({
  ...HOST_MEMBERS,
  workers: listOf(objectOf<HostWorker>({ id, endpointId: id, status: text(), reason: text() }), WORKERS_MAX),
});

export const HOST_LIST = objectOf<{ hosts: readonly HostAnswer[] }>({ hosts: listOf(HOST, HOSTS_MAX) });
