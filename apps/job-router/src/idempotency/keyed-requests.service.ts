import { createHash } from 'node:crypto';
import type { EndpointSnapshot } from '@berth/contracts';
import type { JobId } from '@berth/domain';
import { reserve, type JobStore, type Reserved } from '@berth/jobs';
import type { SecretBox } from '@berth/secrets';

/** A request with an idempotency key. */
export interface KeyedRequest {
  readonly endpoint: EndpointSnapshot;
  readonly operation: 'run' | 'runsync' | 'run-batch';
  readonly idempotencyKey: string;
  /** As `bodyHash` makes it. */
  readonly hash: string;
  /** Jobs that it asks for. */
  readonly size: number;
  /** Id of its first job if it is new. */
  readonly firstId: JobId;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Of the very text: an input is kept as it came, so another way to write the same value is another job, and two numbers
 * that a parser rounds to one are not the same.
 */
export const bodyHash = (body: string): string => sha256(body);

/** Finds what a request with a key stands for, or makes it stand for new jobs. */
export class KeyedRequests {
  readonly #store: JobStore;
  readonly #secrets: SecretBox;

  constructor(store: JobStore, secrets: SecretBox) {
    this.#store = store;
    this.#secrets = secrets;
  }

  /**
   * A key counts per account, endpoint and operation. The hash is sealed: a body may hold a secret that is weak enough to
   * be guessed from it.
   *
   * @throws PlatformError `idempotency-key-reused`, `service-unavailable`
   */
  reserve({ endpoint, operation, idempotencyKey, hash, size, firstId }: KeyedRequest): Promise<Reserved> {
    const name = sha256(JSON.stringify([endpoint.accountId, operation, idempotencyKey]));
    const context = `idempotency:${endpoint.id}:${name}`;
    return reserve(this.#store, {
      key: { endpointId: endpoint.id, name },
      firstId,
      size,
      fingerprint: this.#secrets.seal(hash, context),
      isSame: (sealed) => this.#secrets.open(sealed, context) === hash,
    });
  }
}
