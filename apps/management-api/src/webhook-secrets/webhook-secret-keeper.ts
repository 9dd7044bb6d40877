import { webhookSecretContext } from '@berth/contracts';
import { WEBHOOK_SECRET_OVERLAP_MS, WEBHOOK_SECRET_PREFIX, type AccountId, type EndpointId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import { type ControlSnapshots, webhookSecretId } from '../snapshots/index.js';
import type { WebhookSecretRecord, WebhookSecretsStore } from './webhook-secrets.store.js';

export interface WebhookSecretKeeperOptions {
  readonly records: WebhookSecretsStore;
  readonly secrets: SecretBox;
  readonly snapshots: Pick<ControlSnapshots, 'webhookSecretsChanged'>;
  readonly clock: Clock;
  readonly random: Random;
}

interface EndpointRef {
  readonly accountId: AccountId;
  readonly id: EndpointId;
}

/** Letters and digits: 217 bits of chance in 42 bytes, where the rules ask for 24 to 64. */
const SECRET_CHARACTERS = 42;

/**
 * Makes and replaces the secrets that sign the webhooks of an endpoint. Each holds the endpoint until the caller's
 * transaction is over, so that they are made once; the routers are told once it is committed.
 */
export class WebhookSecretKeeper {
  readonly #options: WebhookSecretKeeperOptions;

  constructor(options: WebhookSecretKeeperOptions) {
    this.#options = options;
  }

  /** The first secret of an endpoint that the caller's transaction has just made. */
  async begin(id: EndpointId): Promise<void> {
    const first = this.#make(id, 1);
    await this.#options.records.insert([first]);
    await this.#options.snapshots.webhookSecretsChanged([id]);
  }

  /** Those that are valid now, newest first: the first is made where there is none. Empty: the endpoint is gone. */
  async ensure({ accountId, id }: EndpointRef): Promise<readonly WebhookSecretRecord[]> {
    if (!(await this.#options.records.hold(accountId, id))) return [];
    const valid = await this.#valid(id);
    return valid.length > 0 ? valid : this.#store(id, [this.#make(id, 1)]);
  }

  /**
   * A new one; the present one stays valid for a day, and one that was replaced before goes now. Newest first. Empty: the
   * endpoint is gone.
   */
  async rotate(endpoint: EndpointRef): Promise<readonly WebhookSecretRecord[]> {
    const { id } = endpoint;
    const [present] = await this.ensure(endpoint);
    if (present === undefined) return [];
    const expiresAtMs = this.#options.clock.nowMs() + WEBHOOK_SECRET_OVERLAP_MS;
    return this.#store(id, [this.#make(id, present.ordinal + 1), { ...present, expiresAtMs }]);
  }

  /**
   * Seals one with the present key, if it is still there and another has sealed it; it stays what it is.
   *
   * @throws SecretError when it cannot be opened
   */
  async reseal({ accountId, id }: EndpointRef, ordinal: number): Promise<void> {
    const { records, secrets, snapshots } = this.#options;
    if (!(await records.hold(accountId, id))) return;
    const record = (await records.list(id)).find((each) => each.ordinal === ordinal);
    if (record === undefined) return;
    const sealedSecret = secrets.reseal(record.sealedSecret, contextOf(record));
    if (sealedSecret === record.sealedSecret) return;
    await records.update({ ...record, sealedSecret });
    await snapshots.webhookSecretsChanged([id]);
  }

  /** The secret itself. @throws SecretError when the key that sealed it is gone */
  open(record: WebhookSecretRecord): string {
    return this.#options.secrets.open(record.sealedSecret, contextOf(record));
  }

  async #valid(id: EndpointId): Promise<readonly WebhookSecretRecord[]> {
    const nowMs = this.#options.clock.nowMs();
    const records = await this.#options.records.list(id);
    return records.filter(({ expiresAtMs }) => expiresAtMs === null || nowMs < expiresAtMs);
  }

  #make(endpointId: EndpointId, ordinal: number): WebhookSecretRecord {
    const { clock, random, secrets } = this.#options;
    const bytes = Buffer.from(random.id(SECRET_CHARACTERS));
    const secret = `${WEBHOOK_SECRET_PREFIX}${bytes.toString('base64')}`;
    const sealedSecret = secrets.seal(secret, contextOf({ endpointId, ordinal }));
    return { endpointId, ordinal, sealedSecret, createdAtMs: clock.nowMs(), expiresAtMs: null };
  }

  async #store(id: EndpointId, records: readonly WebhookSecretRecord[]): Promise<readonly WebhookSecretRecord[]> {
    await this.#options.records.replace(id, records);
    await this.#options.snapshots.webhookSecretsChanged([id]);
    return records;
  }
}

const contextOf = (record: Pick<WebhookSecretRecord, 'endpointId' | 'ordinal'>): string =>
  webhookSecretContext(record.endpointId, webhookSecretId(record));
