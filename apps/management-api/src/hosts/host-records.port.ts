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

export interface HostRecords {
  insert(host: NewHost): Promise<void>;
  list(): Promise<readonly HostRecord[]>;
  find(id: HostId): Promise<HostRecord | null>;
  workersOf(id: HostId): Promise<readonly Worker[]>;
  /** The host after the change, or null when there is none. */
  setIntent(id: HostId, intent: HostIntent): Promise<HostRecord | null>;
  /** Removes the host with its workers. Returns whether it was there. */
  delete(id: HostId): Promise<boolean>;
}
