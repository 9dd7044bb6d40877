import type { V1Secret } from '@kubernetes/client-node';
import type { ImageRequest } from '../../container-runtime.port.js';
import { registryOf } from '../../images/image-name.js';

/** What a kubelet needs to know to pull a private image. Null without credentials. */
export function pullSecret(
  { credentials, image }: ImageRequest,
  metadata: NonNullable<V1Secret['metadata']>,
): V1Secret | null {
  if (credentials === null) return null;
  const { password, username } = credentials;
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const config = JSON.stringify({ auths: { [registryOf(image)]: { username, password, auth } } });
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/dockerconfigjson' },
    data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
  };
}
