import type { NodeTokenRule } from '@berth/domain';
import { DATA_CENTER_DEFAULT } from '@berth/contracts/http';
import type { ConfigReader } from '@berth/lifecycle';

/** How nodes of a cluster join by themselves. */
export interface NodeJoinConfig {
  readonly rule: NodeTokenRule;
  /** Null: the service account of this process's own Pod. */
  readonly kubeconfig: string | null;
  readonly dataCenterId: string;
  readonly reviewsPerMinute: number;
}

const ACCOUNT = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/;
const DATA_CENTER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const REVIEWS = { min: 4, max: 100_000, fallback: 240 };

/** @returns null: no node joins by itself */
export function readNodeJoin(read: ConfigReader): NodeJoinConfig | null {
  const account = read.optional(
    'BERTH_NODE_SERVICE_ACCOUNT',
    'Service account of agents, its namespace, a slash and its name: nodes join by its tokens, which the cluster reviews. Without it none does.',
  );
  const kubeconfig = read.optional(
    'KUBECONFIG',
    'File with the way to the cluster that reviews tokens. Without it the service account of its own Pod.',
  );
  const audience = read.string('BERTH_NODE_TOKEN_AUDIENCE', 'What those tokens are for.', 'berth');
  const dataCenterId = read.string('BERTH_NODE_DATA_CENTER', 'Where those nodes stand.', DATA_CENTER_DEFAULT);
  const reviewsPerMinute = read.integer(
    'BERTH_NODE_REVIEWS_PER_MINUTE',
    'Reviews that this process asks for each minute; an address that agents come from may have a quarter of them.',
    REVIEWS,
  );
  if (!DATA_CENTER.test(dataCenterId)) read.problems.push('BERTH_NODE_DATA_CENTER must be an id like LOCAL-1');
  if (account === null) return null;
  const [, namespace, serviceAccount] = ACCOUNT.exec(account) ?? [];
  if (namespace === undefined || serviceAccount === undefined) {
    read.problems.push('BERTH_NODE_SERVICE_ACCOUNT must look like NAMESPACE/NAME');
    return null;
  }
  return { rule: { audience, namespace, serviceAccount }, kubeconfig, dataCenterId, reviewsPerMinute };
}
