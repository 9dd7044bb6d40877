import { count, mapOf, objectOf, optional, type Members, type Reading } from '@berth/domain/shape';
import { UNKNOWN_ROUTER } from '@berth/domain';
import type {
  ClaimOutcome,
  ClaimSurvey,
  RouterPresence,
  ShardClaim,
  ShardClaims,
  Versioned,
} from '@berth/endpoint-log';
import { askLeader } from '../broker/ask-leader.js';
import type { Broker } from '../broker/broker.js';
import { BrokerApiError, brokerUnavailable, type ApiError } from '../broker/broker-errors.js';
import type { Publication } from '../broker/publication.js';
import { purgeSubject } from '../broker/remove-messages.js';
import { CLAIMS_BUCKET, bucketPlace, bucketStream } from '../topology/buckets.js';
import { LOG_SHARDS } from '../topology/shards.js';
import { subjectToken } from '../topology/subject-token.js';
import { sendOnce } from './send-once.js';
import { encodeClaim, encodePresence, readClaim, readPresence } from './shard-claim-codec.js';

const STREAM = bucketStream(CLAIMS_BUCKET);
const claimSubject = (shard: number): string => `$KV.${CLAIMS_BUCKET}.claim.${shard}`;
const ROUTERS = `$KV.${CLAIMS_BUCKET}.router.`;
const routerSubject = (incarnation: string): string => `${ROUTERS}${subjectToken(incarnation)}`;

/** How long a router that says no more that it lives is still told of: many renewals, and no list that grows. */
const PRESENCE_MS = 60_000;
/** Entries of routers that are read; those of more are no routers. */
const ROUTERS_MAX = 512;

const UNREADABLE: ShardClaim = { owner: UNKNOWN_ROUTER, term: 0 };

interface SubjectList {
  /** How many messages each has. */
  readonly subjects?: Readonly<Record<string, number>>;
}

interface InfoAnswer {
  readonly state?: SubjectList;
}

/** As many as the broker tells of in one answer. */
const SUBJECTS_MAX = 100_000;
const INFO_ANSWER: Members<InfoAnswer> = {
  state: optional(objectOf<SubjectList>({ subjects: optional(mapOf(count, SUBJECTS_MAX)) })),
};

/** The bucket of claims on JetStream, read where it is written: at its leader. */
export class NatsShardClaims implements ShardClaims {
  readonly #broker: Broker;
  readonly #presenceMs: number;

  /** @param presenceMs how long the entry of a router stays without being written again */
  constructor(broker: Broker, presenceMs = PRESENCE_MS) {
    this.#broker = broker;
    this.#presenceMs = presenceMs;
  }

  async survey(): Promise<ClaimSurvey> {
    const [claims, routers] = await Promise.all([this.#claims(), this.#routers()]);
    return { claims, routers };
  }

  claim(shard: number, claim: ShardClaim, revision: number): Promise<ClaimOutcome> {
    return this.#write({ subject: claimSubject(shard), body: encodeClaim(claim), expectedSequence: revision });
  }

  present(router: RouterPresence): Promise<ClaimOutcome> {
    const subject = routerSubject(router.incarnation);
    return this.#write({ subject, body: encodePresence(router), ttlMs: this.#presenceMs });
  }

  async leave(incarnation: string): Promise<void> {
    await purgeSubject(this.#broker, STREAM, routerSubject(incarnation));
  }

  async #write(publication: Publication): Promise<ClaimOutcome> {
    const outcome = await sendOnce(this.#broker, publication);
    switch (outcome.kind) {
      case 'stored':
        return { kind: 'written', revision: outcome.sequence };
      case 'conflict':
        return { kind: 'conflict' };
      case 'full':
      case 'fault':
      case 'unknown':
        return { kind: 'unknown' };
    }
  }

  async #claims(): Promise<Map<number, Versioned<ShardClaim>>> {
    const shards = Array.from({ length: LOG_SHARDS }, (_, shard) => shard);
    const found = await Promise.all(shards.map((shard) => this.#read(claimSubject(shard), readClaim)));
    return new Map(
      found.flatMap((entry, shard) =>
        entry === null ? [] : [[shard, { ...entry, value: entry.value ?? UNREADABLE }]],
      ),
    );
  }

  async #routers(): Promise<Map<string, Versioned<RouterPresence>>> {
    const question = JSON.stringify({ subjects_filter: `${ROUTERS}*` });
    const { error, state } = await this.#broker.ask<InfoAnswer>(`$JS.API.STREAM.INFO.${STREAM}`, question, INFO_ANSWER);
    if (error !== undefined) throw unanswered(error);
    const incarnations = Object.keys(state?.subjects ?? {}).map((subject) => subject.slice(ROUTERS.length));
    const found = await Promise.all(
      incarnations.slice(0, ROUTERS_MAX).map(async (incarnation) => {
        const router = await this.#read(`${ROUTERS}${incarnation}`, readPresence);
        const value = router?.value ?? null;
        // Under another's key it would be two routers.
        const isRouter = router !== null && value?.incarnation === incarnation;
        return isRouter ? [[incarnation, { ...router, value }] as const] : [];
      }),
    );
    return new Map(found.flat());
  }

  /** Null: there is nothing; its value is null where it cannot be read. */
  async #read<Value>(
    subject: string,
    read: (body: Uint8Array) => Reading<Value>,
  ): Promise<Versioned<Value | null> | null> {
    const message = await askLeader(this.#broker, STREAM, { last_by_subj: subject });
    if (message === null) return null;
    const { sequence: revision } = message;
    const reading = read(message.body);
    if (reading.kind === 'value') return { value: reading.value, revision };
    this.#broker.noteUnreadable({ place: bucketPlace(CLAIMS_BUCKET), key: subject, reason: reading.reason });
    return { value: null, revision };
  }
}

const unanswered = (error: ApiError): Error => brokerUnavailable(new BrokerApiError('survey the claims', error));
