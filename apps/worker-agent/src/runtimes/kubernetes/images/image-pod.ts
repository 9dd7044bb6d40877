import type { V1Container, V1Pod } from '@kubernetes/client-node';
import type { ImageRequest } from '../../container-runtime.port.js';
import { LOCAL_PREFIX, byDigest } from '../../images/image-name.js';
import { NO_CARDS, baseSpec, type BaseSurroundings } from '../pods/pod-spec.js';

export interface ImagePodOptions {
  readonly around: BaseSurroundings;
  readonly metadata: NonNullable<V1Pod['metadata']>;
  /** With what the node needs to know to pull it; null: nothing. */
  readonly secretName: string | null;
  /**
   * Name of the program that is asked for. The Pod ends where it would have begun, for want of it, and by then its image is
   * there. An image that had it would run, so it must not be known before.
   */
  readonly program: string;
  /** After so long its node ends it, whoever is left to do so. */
  readonly deadlineS: number;
}

/** Of what never runs; its node need not have room for it. */
const RESOURCES: NonNullable<V1Container['resources']> = {
  requests: { cpu: '0', memory: '0', 'ephemeral-storage': '0' },
  limits: { cpu: '500m', memory: '256Mi', 'ephemeral-storage': '64Mi' },
};

/** A Pod that needs an image and does nothing with it. */
export function imagePod(
  { digest, image }: ImageRequest,
  { around, deadlineS, metadata, program, secretName }: ImagePodOptions,
): V1Pod {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata },
    spec: {
      ...baseSpec(around),
      activeDeadlineSeconds: deadlineS,
      ...(secretName === null ? {} : { imagePullSecrets: [{ name: secretName }] }),
      containers: [
        {
          name: 'image',
          image: digest === undefined ? image : byDigest(image, digest),
          // The registry is asked also for what is here: it was given to another account, perhaps.
          imagePullPolicy: image.startsWith(LOCAL_PREFIX) ? 'Never' : 'Always',
          command: [program],
          env: [NO_CARDS],
          resources: RESOURCES,
          securityContext: { privileged: false, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}
