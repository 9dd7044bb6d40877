import type { HostVolume } from '@berth/contracts';
import type { VolumeStorage } from '@berth/domain';

/** Network volumes on this host. */
export interface HostVolumes {
  /** Null where it keeps none, and while it cannot reach them. */
  readonly storage: VolumeStorage | null;

  /**
   * Folder of the volume on this host, made where there is none yet.
   * @throws RuntimeError `volume-unavailable`
   */
  folderOf(volume: HostVolume): Promise<string>;

  /** Those whose files shall go, as last heard: what is not named any more is done with. */
  setDeleted(volumes: readonly HostVolume[]): void;

  /** Of those that were named last: the ids of whose files nothing is left. */
  readonly clearedIds: readonly string[];
}
