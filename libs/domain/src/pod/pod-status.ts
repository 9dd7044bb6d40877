/** The statuses of a pod (wire contract 5.2). */
export const POD_STATUSES = ['PROVISIONING', 'STARTING', 'RUNNING', 'EXITED', 'ERROR', 'TERMINATED'] as const;
export type PodStatus = (typeof POD_STATUSES)[number];

export const POD_ACTION_NAMES = ['start', 'stop', 'restart', 'terminate'] as const;
export type PodAction = (typeof POD_ACTION_NAMES)[number];

/** The actions that may be asked of a pod in each status (wire contract 5.6). */
const POD_ACTIONS: Readonly<Record<PodStatus, readonly PodAction[]>> = {
  PROVISIONING: ['stop', 'terminate'],
  STARTING: ['stop', 'terminate'],
  RUNNING: ['stop', 'restart', 'terminate'],
  EXITED: ['start', 'terminate'],
  ERROR: ['start', 'terminate'],
  TERMINATED: [],
};

export const podActions = (status: PodStatus): readonly PodAction[] => POD_ACTIONS[status];

export interface PodCounts {
  readonly total: number;
  /** Without those of which there is none. */
  readonly byStatus: Readonly<Partial<Record<PodStatus, number>>>;
}

export function podCounts(pods: readonly { readonly status: PodStatus }[]): PodCounts {
  const counts = POD_STATUSES.map((status) => [status, pods.filter((pod) => pod.status === status).length] as const);
  return { total: pods.length, byStatus: Object.fromEntries(counts.filter(([, count]) => count > 0)) };
}
