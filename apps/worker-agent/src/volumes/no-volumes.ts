import { RuntimeError } from '../runtimes/index.js';
import type { HostVolumes } from './host-volumes.port.js';

/** A host whose operator has named no folder for network volumes. */
export const NO_VOLUMES: HostVolumes = {
  storage: null,
  clearedIds: [],
  folderOf: () =>
    Promise.reject(
      new RuntimeError('volume-unavailable', 'This host keeps no network volumes: BERTH_VOLUMES is not set.'),
    ),
  setDeleted: () => undefined,
};
