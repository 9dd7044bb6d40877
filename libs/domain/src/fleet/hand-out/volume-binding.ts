import { volumeIn, type PlacementRequest } from '../../placement/index.js';
import type { Worker } from '../../worker/index.js';
import type { Room } from '../plan-staffing.js';

/** The request with what this plan has decided of where its network volumes lie. */
export function withBoundVolumes(
  request: PlacementRequest,
  { boundVolumes }: Pick<Room, 'boundVolumes'>,
): PlacementRequest {
  const { volumes } = request;
  if (volumes === undefined) return request;
  const known = volumes.map((each) => ({ ...each, storageId: each.storageId ?? boundVolumes.get(each.id) ?? null }));
  return { ...request, volumes: known };
}

/** The worker with the volume of its data center, which lies from now on where the worker's host keeps volumes. */
export function bindVolume(
  worker: Worker,
  { volumes }: Pick<PlacementRequest, 'volumes'>,
  { boundVolumes, hosts }: Pick<Room, 'boundVolumes' | 'hosts'>,
): { readonly worker: Worker; readonly storageId?: string } {
  const host = hosts.get(worker.hostId);
  const storageId = host?.inventory?.volumes?.storageId;
  const volume = host === undefined ? null : volumeIn(volumes, host.dataCenterId);
  if (volume === null || storageId === undefined) return { worker };
  boundVolumes.set(volume.id, storageId);
  return { worker: { ...worker, volumeId: volume.id }, storageId };
}
