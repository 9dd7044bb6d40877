import { readNodeToken, type ClusterApi, type NodeTokenClaims } from '@berth/cluster-api';
import {
  cleanText,
  hostOfNode,
  judgeNodeToken,
  subjectOfAccount,
  type HostId,
  type NodeTokenFault,
  type NodeTokenRule,
  type NodeTokenVerdict,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { hashHostSecret } from '../host-sessions/index.js';
import type { HostsService } from '../hosts/index.js';
import type { NodeTokenMetrics } from './metrics.js';
import { reviewToken } from './token-review.js';
import { ReviewBudget } from './review-budget.js';

/** Why a node was not let in. */
export type NodeFault =
  | NodeTokenFault
  | 'token-of-others' // by its own words not what the setting names, or out of date: not even reviewed
  | 'reviews-spent' // more tokens than are reviewed in a minute
  | 'cluster-away' // the cluster did not say whose token it is
  | 'node-live' // its host is there, with another secret
  | 'node-removed'; // an operator removed its host

export interface NodeAdmissionOptions {
  readonly api: Pick<ClusterApi, 'ask'>;
  readonly hosts: Pick<HostsService, 'inviteNode'>;
  readonly rule: NodeTokenRule;
  readonly dataCenterId: string;
  readonly reviewsPerMinute: number;
  readonly metrics: NodeTokenMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A token that a cluster made for longer is good here no longer than this. */
const TOKEN_LIFE_MAX_MS = 3_600_000;
const WORDS_MAX = 300;

/** Lets nodes of a cluster join by the tokens that it gave to the Pods of their agents. */
export class NodeAdmission {
  readonly #options: NodeAdmissionOptions;
  readonly #budget: ReviewBudget;

  constructor(options: NodeAdmissionOptions) {
    this.#options = options;
    this.#budget = new ReviewBudget({ perMinute: options.reviewsPerMinute, clock: options.clock });
  }

  /**
   * The host that may join with this token, which is a join token from then on.
   *
   * @param from where whoever shows it is
   */
  async admit(token: string, from: string): Promise<{ readonly hostId: HostId } | NodeFault> {
    const claims = readNodeToken(token);
    if (claims === null || !this.#mayBeGood(claims)) return 'token-of-others';
    if (!this.#budget.take(from)) return 'reviews-spent';
    const verdict = await this.#review(token);
    if (verdict === null) return 'cluster-away';
    if (verdict.kind === 'refused') return verdict.fault;
    return this.#invite(verdict, claims, token);
  }

  #mayBeGood({ audiences, expiresAtMs, subject }: NodeTokenClaims): boolean {
    const { clock, rule } = this.#options;
    return audiences.includes(rule.audience) && subject === subjectOfAccount(rule) && expiresAtMs > clock.nowMs();
  }

  /** Null: the cluster did not say. */
  async #review(token: string): Promise<NodeTokenVerdict | null> {
    const { api, logger, metrics, rule } = this.#options;
    try {
      const verdict = judgeNodeToken(await reviewToken(api, { audience: rule.audience, token }), rule);
      metrics.reviews.inc({ outcome: verdict.kind === 'node' ? 'good' : 'refused' });
      return verdict;
    } catch (error) {
      metrics.reviews.inc({ outcome: 'failed' });
      // In words alone: what an error carries along may be the question, with the token in it.
      logger.warn('the cluster did not review the token of a node', {
        why: cleanText((error as Error).message, WORDS_MAX),
      });
      return null;
    }
  }

  async #invite(
    { node }: Extract<NodeTokenVerdict, { readonly kind: 'node' }>,
    { expiresAtMs }: NodeTokenClaims,
    token: string,
  ): Promise<{ readonly hostId: HostId } | NodeFault> {
    const { clock, dataCenterId, hosts, logger } = this.#options;
    const tokenExpiresAtMs = Math.min(expiresAtMs, clock.nowMs() + TOKEN_LIFE_MAX_MS);
    const invitation = await hosts.inviteNode(node, {
      dataCenterId,
      tokenHash: hashHostSecret(token),
      tokenExpiresAtMs,
    });
    if (invitation !== 'invited') return `node-${invitation}`;
    const hostId = hostOfNode(node);
    logger.info('a node may join', { hostId, node: node.name });
    return { hostId };
  }
}
