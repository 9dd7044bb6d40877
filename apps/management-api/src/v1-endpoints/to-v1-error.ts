import type { CreateV1EndpointDto } from '@berth/contracts/http';
import { PlatformError } from '@berth/domain';

/** The same refusal with the fields named as the older form names them. */
export function toV1Error(error: PlatformError, dto: CreateV1EndpointDto): PlatformError {
  const translated = (text: string): string =>
    wordsOf(dto).reduce((said, [word, old]) => said.replaceAll(word, old), text);
  return new PlatformError(error.code, translated(error.message), {
    cause: error,
    ...(error.errors === undefined ? {} : { errors: error.errors.map(translated) }),
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  });
}

const wordsOf = ({ instanceIds, networkVolumeId }: CreateV1EndpointDto): readonly (readonly [RegExp, string])[] => [
  [/\$\.workers\.min\b/g, '$$.workersMin'],
  [/\$\.workers\.idleTimeout\b/g, '$$.idleTimeout'],
  [/'max'/g, "'workersMax'"],
  [/\$\.gpu\b/g, '$$'],
  ...volumeWords(networkVolumeId),
  ...sizeWords(instanceIds),
];

/** The one volume stands before the others, so those are counted from one less. */
function volumeWords(first: string | undefined): readonly (readonly [RegExp, string])[] {
  return first === undefined
    ? [[/\$\.networkVolumes\b/g, '$$.networkVolumeIds']]
    : [
        [/\$\.networkVolumes\[0\]/g, '$$.networkVolumeId'],
        [/\$\.networkVolumes\b(\[\d+\])?/g, '$$.networkVolumeIds'],
      ];
}

const sizeWords = (instanceIds: readonly string[] | undefined): readonly (readonly [RegExp, string])[] =>
  instanceIds === undefined
    ? [
        [/\$\.cpu\[\d+\]\.vcpuCount\b/g, '$$.vcpuCount'],
        [/\$\.cpu(\[\d+\])\.id\b/g, '$$.cpuFlavorIds$1'],
      ]
    : [[/\$\.cpu(\[\d+\])\.\w+/g, '$$.instanceIds$1']];
