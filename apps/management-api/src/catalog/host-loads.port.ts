import type { HostLoad } from '@berth/domain';

export interface HostLoads {
  /** Every host of the installation with what the workers of all accounts take of it, as of one instant. */
  all(): Promise<readonly HostLoad[]>;
}
