import type { ClusterApi } from '@berth/cluster-api';
import type { TokenReview } from '@berth/domain';
import { flag, listOf, mapOf, objectOf, optional, readShape, requireRead, text } from '@berth/domain/shape';

/** Less than the broker waits for what is to be said of an agent. */
const ANSWER_WITHIN_MS = 3_000;
const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';
const ITEMS_MAX = 64;

interface Answer {
  readonly status: AnswerStatus;
}

interface AnswerStatus {
  readonly authenticated?: boolean;
  readonly audiences?: readonly string[];
  readonly user?: AnswerUser;
}

interface AnswerUser {
  readonly username?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const ANSWER = objectOf<Answer>({
  status: objectOf<AnswerStatus>({
    authenticated: optional(flag),
    audiences: optional(listOf(text(), ITEMS_MAX)),
    user: optional(
      objectOf<AnswerUser>({
        username: optional(text()),
        extra: optional(mapOf(listOf(text(), ITEMS_MAX), ITEMS_MAX)),
      }),
    ),
  }),
});

/**
 * Asks a cluster once whose token it is. An agent that hears nothing shows its token again.
 *
 * @throws ClusterError, what the connection throws, Error where the answer is no review
 */
export async function reviewToken(
  api: Pick<ClusterApi, 'ask'>,
  { audience, token }: { readonly audience: string; readonly token: string },
): Promise<TokenReview> {
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token, audiences: [audience] },
  };
  const answer = await api.ask(PATH, { method: 'POST', body, timeoutMs: ANSWER_WITHIN_MS });
  const { status } = requireRead(readShape<Answer>(ANSWER, answer));
  const { audiences = [], authenticated = false, user = {} } = status;
  return { isAuthenticated: authenticated, audiences, username: user.username ?? '', extra: user.extra ?? {} };
}
