import type { Host, Inventory } from '../host/index.js';

/** A network volume of an endpoint, as placement sees it. */
export interface PlaceableVolume {
  readonly id: string;
  readonly dataCenterId: string;
  /** The storage that has its data; null as long as no worker has had it. */
  readonly storageId: string | null;
}

/** The volume that a worker in the data center has: of several there it is the endpoint's first. */
export const volumeIn = (volumes: readonly PlaceableVolume[] = [], dataCenterId: string): PlaceableVolume | null =>
  volumes.find((volume) => volume.dataCenterId === dataCenterId) ?? null;

/** A worker's way to its volume: on a host that has joined. */
interface VolumeReach {
  readonly request: { readonly volumes?: readonly PlaceableVolume[] };
  readonly host: Host;
  readonly inventory: Inventory;
}

/** Whether the host's storage can give the worker its volume: it has no data yet, or it lies there. */
export const reachesVolume = (reach: VolumeReach): boolean => explainUnreached(reach) === null;

/** What keeps the worker from its volume there: a sentence without its full stop; null where nothing does. */
export function explainUnreached({ host, inventory, request }: VolumeReach): string | null {
  const volume = volumeIn(request.volumes, host.dataCenterId);
  if (volume === null) return null;
  const storageId = inventory.volumes?.storageId ?? null;
  if (storageId === null) return 'the host offers no storage for network volumes';
  if (volume.storageId === null || volume.storageId === storageId) return null;
  return `network volume ${volume.id} lies on storage ${volume.storageId}, the host has ${storageId}`;
}
