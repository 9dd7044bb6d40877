import type { Host, HostId, HostIntent, Worker } from '@berth/domain';

export interface HostRecord extends Host {
  readonly createdAtMs: number;
}

export interface NewHost {
  readonly host: HostRecord;
  /** Lower-case hex SHA-256 of its one-time token. */
  readonly tokenHash: string;
  readonly tokenExpiresAtMs: number;
}

/** A `publish` runs inside the write's transaction: when it throws, nothing has happened. */
export interface HostRecords {
  insert(host: NewHost, publish: () => Promise<void>): Promise<void>;
  list(): Promise<readonly HostRecord[]>;
  find(id: HostId): Promise<HostRecord | null>;
  workersOf(id: HostId): Promise<readonly Worker[]>;
  /** The host after the change, or null when there is none. */
  setIntent(id: HostId, intent: HostIntent, publish: () => Promise<void>): Promise<HostRecord | null>;
  /** Removes the host with its workers. Returns whether it was there. */
  delete(id: HostId, publish: () => Promise<void>): Promise<boolean>;
}
