import type { NatsCredentials } from '@berth/messaging';

/** Without a seed the broker is not Berth's own, and its address says who we are. */
export const credentialsOf = (seed: string | null): NatsCredentials =>
  seed === null ? { kind: 'none' } : { kind: 'nkey', seed };
