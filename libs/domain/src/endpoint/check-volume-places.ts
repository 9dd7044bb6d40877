import { failure, type FieldFailure } from './field-failure.js';

/** A network volume of an endpoint, and where it lies. */
export interface VolumePlace {
  readonly id: string;
  readonly dataCenterId: string;
}

/**
 * A worker has the volume of its own data center, so volumes may lie in several; where the endpoint keeps to some data
 * centers, each volume lies in one of them, or no worker would ever have it. Empty when that is so.
 *
 * @param volumes in the order of the request
 */
export function checkVolumePlaces(
  dataCenterIds: readonly string[],
  volumes: readonly VolumePlace[],
): readonly FieldFailure[] {
  const left = volumes.map((volume) => volume.dataCenterId).filter((id) => !dataCenterIds.includes(id));
  if (dataCenterIds.length === 0 || left.length === 0) return [];
  const named = [...new Set(left)].map((id) => `'${id}'`).join(', ');
  const reason = `leaves out ${named}, where network volumes lie; add it, or send an empty list`;
  return [failure('$.dataCenterIds', reason)];
}
