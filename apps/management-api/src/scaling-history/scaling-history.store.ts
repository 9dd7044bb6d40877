import type { AccountId, DecisionInputs, DecisionOutcome, DecisionRecord, EndpointId } from '@berth/domain';
import type { Database } from '../persistence/index.js';

/** Entries that an endpoint has at most; the oldest go first. */
export const DECISIONS_MAX = 1_000;

/** An entry as it was kept. */
export interface KeptDecision extends DecisionRecord {
  /** Decimal; grows with each entry of the endpoint. */
  readonly ordinal: string;
}

export interface HistoryPage {
  readonly limit: number;
  /** Only entries older than the one with this ordinal. */
  readonly before?: string;
}

interface Row {
  readonly ordinal: string;
  readonly at: Date;
  readonly desired_before: number;
  readonly desired: number;
  readonly reason: string;
  readonly detail: string;
  readonly inputs: DecisionInputs;
  readonly outcome: DecisionOutcome;
}

/** The one leader writes, so the ordinals of an endpoint follow each other. */
const APPEND = `
  WITH last AS (SELECT coalesce(max(ordinal), 0) AS ordinal FROM scaling_decisions WHERE endpoint_id = $1),
       beyond AS (DELETE FROM scaling_decisions d USING last
                   WHERE d.endpoint_id = $1 AND d.ordinal <= last.ordinal + 1 - $9)
  INSERT INTO scaling_decisions (endpoint_id, ordinal, at, desired_before, desired, reason, detail, inputs, outcome)
  SELECT $1, last.ordinal + 1, $2::timestamptz, $3::integer, $4::integer, $5, $6, $7::jsonb, $8::jsonb FROM last`;

const LIST = `
  SELECT d.ordinal, d.at, d.desired_before, d.desired, d.reason, d.detail, d.inputs, d.outcome
    FROM scaling_decisions d JOIN endpoints e ON e.id = d.endpoint_id AND e.account_id = $1
   WHERE d.endpoint_id = $2 AND d.ordinal < $3::bigint
   ORDER BY d.ordinal DESC LIMIT $4`;

const PRUNE = `
  DELETE FROM scaling_decisions WHERE (endpoint_id, ordinal) IN (
    SELECT endpoint_id, ordinal FROM scaling_decisions WHERE at < $1 ORDER BY at LIMIT $2)`;

const NO_ORDINAL = '9223372036854775807';

/** Decisions about the workers of endpoints. Written by the leader of the control loops, read for one account. */
export class ScalingHistoryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async append({ atMs, endpointId, inputs, outcome, ...entry }: DecisionRecord): Promise<void> {
    const { desired, desiredBefore, detail, reason } = entry;
    await this.#database.read((manager) =>
      manager.query(APPEND, [
        ...[endpointId, new Date(atMs), desiredBefore, desired, reason, detail],
        ...[JSON.stringify(inputs), JSON.stringify(outcome), DECISIONS_MAX],
      ]),
    );
  }

  /** Newest first. */
  async list(
    accountId: AccountId,
    endpointId: EndpointId,
    { before = NO_ORDINAL, limit }: HistoryPage,
  ): Promise<readonly KeptDecision[]> {
    const rows = await this.#database.read((manager) =>
      manager.query<Row[]>(LIST, [accountId, endpointId, before, limit]),
    );
    return rows.map(({ at, desired_before: desiredBefore, ...row }) => ({
      ...row,
      endpointId,
      desiredBefore,
      atMs: at.getTime(),
    }));
  }

  /** Removes at most `limit` entries from before the instant, the oldest first, and returns how many. */
  async prune(beforeMs: number, limit: number): Promise<number> {
    const [, count] = await this.#database.read((manager) =>
      manager.query<[unknown[], number]>(PRUNE, [new Date(beforeMs), limit]),
    );
    return count;
  }
}
