import type { NetworkVolumeBody } from '@berth/contracts/http';
import type { NetworkVolume } from './network-volumes.store.js';

export const toNetworkVolumeBody = (volume: NetworkVolume): NetworkVolumeBody => ({
  id: volume.id,
  ...toNetworkVolumeFields(volume),
  createdAt: new Date(volume.createdAtMs).toISOString(),
});

/** The fields that a tenant has set, in the words of the interface. */
export const toNetworkVolumeFields = ({
  dataCenterId,
  name,
  sizeGb,
  type,
}: NetworkVolume): Omit<NetworkVolumeBody, 'id' | 'createdAt'> => ({
  name,
  size: sizeGb,
  dataCenter: dataCenterId,
  type,
});
