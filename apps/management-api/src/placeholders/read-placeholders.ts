import { readJsonSetting, TOLERATIONS } from '@berth/cluster-api';
import { DATA_CENTER_DEFAULT } from '@berth/contracts/http';
import type { PlaceholderBounds } from '@berth/domain';
import { mapOf, objectOf, optional, text } from '@berth/domain/shape';
import type { ConfigReader } from '@berth/lifecycle';
import type { NodePlace, PlaceholderSurroundings } from './placeholder-pod.js';

/** Placeholder Pods for workers without a place. */
export interface PlaceholdersConfig {
  /** Null: the service account of this process's own Pod. */
  readonly kubeconfig: string | null;
  readonly bounds: PlaceholderBounds;
  /** Where new nodes stand. */
  readonly dataCenterId: string;
  readonly around: PlaceholderSurroundings;
}

const NOWHERE_IN_PARTICULAR: NodePlace = { nodeSelector: {}, tolerations: [] };
const LABELS_MAX = 64;

const PLACE = objectOf<Partial<NodePlace>>({
  nodeSelector: optional(mapOf(text(), LABELS_MAX)),
  tolerations: optional(TOLERATIONS),
});

/** @returns null: none are made */
export function readPlaceholders(read: ConfigReader): PlaceholdersConfig | null {
  const isOn =
    read.oneOf('BERTH_PLACEHOLDERS', '`on`: a placeholder Pod for each worker that has no host with room.', {
      choices: ['on', 'off'],
      fallback: 'off',
    }) === 'on';
  const kubeconfig = read.optional(
    'KUBECONFIG',
    'File with the way to the cluster of the placeholders. Without it the service account of its own Pod.',
  );
  const bounds = {
    max: read.integer('BERTH_PLACEHOLDERS_MAX', 'Placeholders that there are at most.', {
      min: 1,
      max: 1_000,
      fallback: 20,
    }),
    accountMax: read.integer('BERTH_PLACEHOLDERS_ACCOUNT_MAX', 'Of them for the workers of one account.', {
      ...{ min: 1, max: 1_000, fallback: 5 },
    }),
  };
  const dataCenterId = read.string(
    'BERTH_PLACEHOLDER_DATA_CENTER',
    'Where new nodes stand: endpoints that want to be elsewhere get none.',
    DATA_CENTER_DEFAULT,
  );
  const namespace = read.string('BERTH_PLACEHOLDER_NAMESPACE', 'Namespace of the workers.', 'berth-workers');
  const image = read.optional(
    'BERTH_PLACEHOLDER_IMAGE',
    'What they are made of: an image that nodes have anyway, with `sleep`.',
  );
  const priorityClass = read.optional(
    'BERTH_PLACEHOLDER_PRIORITY_CLASS',
    'Their class, which has the lowest priority.',
  );
  const place = readPlace(read);
  if (!isOn) return null;
  if (image === null) read.problems.push('BERTH_PLACEHOLDERS needs BERTH_PLACEHOLDER_IMAGE');
  return { kubeconfig, bounds, dataCenterId, around: { namespace, image: image ?? '', priorityClass, place } };
}

const readPlace = (read: ConfigReader): NodePlace => ({
  ...NOWHERE_IN_PARTICULAR,
  ...readJsonSetting<Partial<NodePlace>>(read, {
    name: 'BERTH_PLACEHOLDER_PLACE',
    meaning: '`nodeSelector` and `tolerations` of agents, as JSON: where workers may be.',
    shape: PLACE,
  }),
});
