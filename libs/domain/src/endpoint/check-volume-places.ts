import { failure, type FieldFailure } from './field-failure.js';

/** A network volume of an endpoint, and where it lies. */
export interface VolumePlace {
  readonly id: string;
  readonly dataCenterId: string;
}

/**
 * A worker can only be where all of its volumes are, so they lie in one data center, and it is one of those that the
 * endpoint keeps to, if it keeps to some. Empty when that is so.
 *
 * @param volumes in the order of the request
 */
export function checkVolumePlaces(
  dataCenterIds: readonly string[],
  volumes: readonly VolumePlace[],
): readonly FieldFailure[] {
  const [first] = volumes;
  if (first === undefined) return [];
  const { dataCenterId, id } = first;
  const elsewhere = volumes.flatMap((volume, index) =>
    volume.dataCenterId === dataCenterId
      ? []
      : [
          failure(
            `$.networkVolumes[${index}]`,
            `lies in '${volume.dataCenterId}', but '${id}' in '${dataCenterId}'; a worker can only be where all of its volumes are`,
          ),
        ],
  );
  if (elsewhere.length > 0 || dataCenterIds.length === 0 || dataCenterIds.includes(dataCenterId)) return elsewhere;
  const reason = `leaves out '${dataCenterId}', where the network volumes lie; add it, or send an empty list`;
  return [failure('$.dataCenterIds', reason)];
}
