/** An endpoint, pod or worker that keeps a registry or a volume from being deleted. */
export interface ResourceUser {
  readonly kind: 'endpoint' | 'pod' | 'worker';
  readonly id: string;
}

/** As many as a caller is told of. */
export const USERS_MAX = 10;

/** @param users one more than `USERS_MAX` where there are more */
export function describeUsers(users: readonly ResourceUser[]): string {
  const named = users.slice(0, USERS_MAX).map(({ id, kind }) => `${kind} ${id}`);
  return users.length > USERS_MAX ? `${named.join(', ')} and others` : named.join(', ');
}
