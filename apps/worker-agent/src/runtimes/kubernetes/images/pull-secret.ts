import type { ClusterApi } from '@berth/cluster-api';
import type { HostId } from '@berth/domain';
import type { V1ObjectMeta, V1Secret } from '@kubernetes/client-node';
import type { Random } from '@berth/lifecycle';
import type { ImageRequest } from '../../container-runtime.port.js';
import { registryOf } from '../../images/image-name.js';
import { POD_HOST_LABEL, ROLE_LABEL, type PodRole } from '../pods/pod-labels.js';
import { ownedByNode, type PodSurroundings } from '../pods/pod-spec.js';

/** What is made for the sake of an image: by its label what an agent left behind is found. */
export const IMAGE_ROLE: PodRole = 'image';

/** Where it is made, and for whom. */
export interface ImagePlace {
  readonly api: Pick<ClusterApi, 'ask'>;
  readonly hostId: HostId;
  readonly random: Random;
  readonly around: Pick<PodSurroundings, 'namespace' | 'nodeName' | 'nodeUid'>;
}

type PrivateImage = Pick<ImageRequest, 'credentials' | 'image'>;

const ID_LENGTH = 16;
/** A start does not wait longer for the end of what it has used. */
const DELETE_MAX_MS = 10_000;

/** Of a Pod or a Secret that is there for a moment. */
export const imageMetadata = ({ around, hostId, random }: ImagePlace): V1ObjectMeta & { readonly name: string } => ({
  name: `berth-image-${random.id(ID_LENGTH)}`,
  namespace: around.namespace,
  labels: { [POD_HOST_LABEL]: hostId, [ROLE_LABEL]: IMAGE_ROLE },
  ownerReferences: ownedByNode(around),
});

/**
 * What a kubelet needs to know to pull a private image is there as long as `use` takes, under the name that it is told: null
 * without credentials. One that cannot be removed goes when the agent's next life begins.
 *
 * @throws ClusterError, what the connection throws, and what `use` throws
 */
export async function withPullSecret<T>(
  image: PrivateImage,
  { signal, ...place }: ImagePlace & { readonly signal: AbortSignal | undefined },
  use: (secretName: string | null) => Promise<T>,
): Promise<T> {
  const metadata = imageMetadata(place);
  const body = pullSecret(image, metadata);
  if (body === null) return use(null);
  const path = `/api/v1/namespaces/${place.around.namespace}/secrets`;
  try {
    await place.api.ask(path, { method: 'POST', body, signal });
    return await use(metadata.name);
  } finally {
    await place.api
      .ask(`${path}/${metadata.name}`, { method: 'DELETE', timeoutMs: DELETE_MAX_MS })
      .catch(() => undefined);
  }
}

function pullSecret({ credentials, image }: PrivateImage, metadata: V1ObjectMeta): V1Secret | null {
  if (credentials === null) return null;
  const { password, username } = credentials;
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const config = JSON.stringify({ auths: { [registryOf(image)]: { username, password, auth } } });
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/dockerconfigjson' },
    data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
  };
}
