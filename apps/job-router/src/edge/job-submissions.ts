import { createHash } from 'node:crypto';
import {
  PlatformError,
  itemJobId,
  type CommandOutcome,
  type JobId,
  type JobWish,
  type SubmitCommand,
} from '@berth/domain';
import type { Random } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import type { ItemOutcome, JobsAccepted, JobsRequest, RequestName } from './jobs.port.js';
import { isUnavailable } from '../owners/index.js';
import type { JobWishes } from './job-wishes.js';
import { CommandRefusedError, type OwnerCommands } from './owner-commands.js';
import { pieceFrom, type NamedSubmission } from './submit-pieces.js';

export interface JobSubmissionsOptions {
  readonly commands: Pick<OwnerCommands, 'perform'>;
  readonly wishes: JobWishes;
  readonly random: Random;
  readonly secrets: Pick<SecretBox, 'fingerprintsOf'>;
}

type Key = NonNullable<SubmitCommand['key']>;
type Named = Omit<Key, 'fingerprint' | 'item'>;
type Answer = Extract<CommandOutcome, { readonly kind: 'accepted' | 'named-before' }>;

/** How far a named request has come. */
interface Standing {
  /** Of the request's first job. */
  readonly firstId: JobId;
  readonly accepted: number;
}

/** How often a request is told anew where it stands: a few routers may be at the same one. */
const NAMINGS_MAX = 8;

/**
 * Has owners accept the jobs of requests. A list that does not fit one message goes in pieces, one after the other, so
 * that jobs start in the order of the list; a piece that is sent again has the ids of before, so it is the same piece.
 */
export class JobSubmissions {
  readonly #options: JobSubmissionsOptions;

  constructor(options: JobSubmissionsOptions) {
    this.#options = options;
  }

  /** @throws PlatformError what the first job failed of, where none was accepted */
  async submit(request: JobsRequest): Promise<JobsAccepted> {
    const accepted =
      request.name === null ? await this.#submitUnnamed(request) : await this.#submitNamed(request, request.name);
    const [first] = accepted.outcomes;
    if (first?.kind === 'failed' && accepted.outcomes.every(({ kind }) => kind === 'failed')) throw first.error;
    return accepted;
  }

  /** Each piece is accepted or fails by itself. After an outage the rest is not tried: it would only keep the caller. */
  async #submitUnnamed(request: JobsRequest): Promise<JobsAccepted> {
    const { origin, size } = request;
    const ids = Array.from({ length: size }, () => this.#newJobId(origin));
    request.onFirstId?.(ids[0] as JobId);
    const outcomes: ItemOutcome[] = [];
    while (outcomes.length < size) {
      const piece = pieceFrom(request, outcomes.length, (item) => ids[item] as JobId);
      const error = await this.#acceptUnnamed(request, piece);
      const failed = error !== null && isUnavailable(error) ? size - outcomes.length : piece.length;
      outcomes.push(...(error === null ? piece.map(acceptedAs) : failures(failed, error)));
    }
    return { outcomes, isReplayed: false };
  }

  /** Null: all of it is accepted. Else what it failed of. */
  async #acceptUnnamed(request: JobsRequest, piece: readonly NamedSubmission[]): Promise<unknown> {
    try {
      const jobs = await this.#options.wishes.make(request, piece);
      await this.#send(request, jobs, null);
      return null;
    } catch (error) {
      if (error instanceof CommandRefusedError) await this.#options.wishes.forget(request.endpoint.id, piece);
      return error;
    }
  }

  /**
   * Items are accepted in their order, so what follows one that failed fails with it. The same request, sent again, goes on
   * there: it is told which ids it has.
   */
  async #submitNamed(request: JobsRequest, requestName: RequestName): Promise<JobsAccepted> {
    const { origin, size } = request;
    const named = { name: keyNameOf(request, requestName), bodyHash: requestName.bodyHash };
    const ownId = this.#newJobId(origin);
    let standing: Standing = { firstId: ownId, accepted: 0 };
    let failure: readonly ItemOutcome[] = [];
    request.onFirstId?.(itemJobId({ firstId: ownId, size }, 0));
    for (let namings = 0; standing.accepted < size && failure.length === 0;) {
      try {
        const next = await this.#acceptNext(request, named, standing);
        if (next.firstId !== standing.firstId) request.onFirstId?.(itemJobId({ firstId: next.firstId, size }, 0));
        if (next.accepted <= standing.accepted || next.firstId !== standing.firstId) namings += 1;
        if (namings > NAMINGS_MAX) throw unsettled();
        standing = next;
      } catch (error) {
        failure = failures(size - standing.accepted, error);
      }
    }
    const { accepted, firstId } = standing;
    const ids = Array.from({ length: accepted }, (_, item) => itemJobId({ firstId, size }, item));
    const outcomes = [...ids.map((id) => ({ kind: 'accepted', id }) as const), ...failure];
    return { outcomes, isReplayed: firstId !== ownId };
  }

  /** One more piece of a named request, or where it stands instead. */
  async #acceptNext(
    request: JobsRequest,
    { bodyHash, name }: { readonly name: string; readonly bodyHash: string },
    { accepted, firstId }: Standing,
  ): Promise<Standing> {
    const { endpoint, size } = request;
    const named: Named = { name, firstId, size };
    const piece = pieceFrom(request, accepted, (item) => itemJobId(named, item));
    const jobs = await this.#options.wishes.make(request, piece);
    const key = { ...named, item: accepted };
    const fingerprints = this.#options.secrets.fingerprintsOf(bodyHash, `idempotency:${endpoint.id}:${name}`);
    try {
      const answer = await this.#sendKeyed(request, jobs, { key, fingerprints });
      if (answer.kind === 'accepted') return { firstId, accepted: accepted + piece.length };
      // Ids that are not the request's are nobody's.
      if (answer.firstId !== firstId) await this.#options.wishes.forget(endpoint.id, piece);
      return { firstId: answer.firstId, accepted: answer.accepted };
    } catch (error) {
      // Once a piece is accepted, another router that was told these ids may have sent the very same jobs.
      const isUnknown = accepted > 0 || !(error instanceof CommandRefusedError);
      if (!isUnknown) await this.#options.wishes.forget(endpoint.id, piece);
      throw error;
    }
  }

  /** Under the fingerprint of today's key first; a request that came before the key was rotated has another one. */
  async #sendKeyed(
    request: JobsRequest,
    jobs: readonly JobWish[],
    { fingerprints, key }: { readonly key: Omit<Key, 'fingerprint'>; readonly fingerprints: readonly string[] },
  ): Promise<Answer> {
    let reused: unknown;
    for (const fingerprint of fingerprints) {
      try {
        return await this.#send(request, jobs, { ...key, fingerprint });
      } catch (error) {
        if (!(error instanceof CommandRefusedError) || error.reason !== 'key-reused') throw error;
        reused = error;
      }
    }
    throw reused;
  }

  #send({ endpoint }: JobsRequest, jobs: readonly JobWish[], key: Key | null): Promise<Answer> {
    return this.#options.commands.perform(endpoint.id, { kind: 'submit', jobs, key }, ['accepted', 'named-before']);
  }

  /** Ids as the published clients know them (API decisions 2.2). */
  #newJobId(origin: JobsRequest['origin']): JobId {
    const uuid = this.#options.random.uuid();
    return (origin === 'runsync' ? `sync-${uuid}` : uuid) as JobId;
  }
}

/** A key counts per account, endpoint and operation. One token, which tells nothing of the key. */
const keyNameOf = ({ endpoint }: JobsRequest, { idempotencyKey, operation }: RequestName): string =>
  createHash('sha256')
    .update(JSON.stringify([endpoint.accountId, operation, idempotencyKey]))
    .digest('hex');

const acceptedAs = ({ id }: NamedSubmission): ItemOutcome => ({ kind: 'accepted', id });

const failures = (count: number, error: unknown): readonly ItemOutcome[] =>
  Array.from({ length: count }, () => ({ kind: 'failed', error }) as const);

const unsettled = (): PlatformError =>
  new PlatformError(
    'service-unavailable',
    'The request could not be settled under its Idempotency-Key; send it again.',
    {
      retryAfterSeconds: 1,
    },
  );
