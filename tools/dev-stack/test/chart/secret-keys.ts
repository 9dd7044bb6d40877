import type { V1PodSpec } from '@kubernetes/client-node';
import { podOf, type ClusterObject } from './helm-chart.js';

/** Made by hand, later, or not at all. */
const LATER = ['berth-test'];

type Named = readonly [secret: string, key: string];

/** `NAMESPACE/SECRET/KEY` of all keys that the Pods of an object name, and `NAMESPACE/SECRET/` where they take a whole Secret. */
export function namedKeys(object: ClusterObject): readonly string[] {
  const pod = podOf(object);
  const namespace = object.metadata.namespace ?? '';
  const named = pod === undefined ? [] : [...keysOfVariables(pod), ...keysOfVolumes(pod)];
  return named.filter(([name]) => !LATER.includes(name)).map((words) => [namespace, ...words].join('/'));
}

/** Has kubectl print the same of Secrets, one in each line, and which version of each there is. */
export const SECRET_KEYS =
  '--output=go-template={{range .items}}{{$at := printf "%s/%s/" .metadata.namespace .metadata.name}}' +
  '{{$at}}{{"\\n"}}{{$at}} is {{.metadata.resourceVersion}}{{"\\n"}}{{range $key, $_ := .data}}{{$at}}{{$key}}{{"\\n"}}{{end}}{{end}}';

const keysOfVariables = (pod: V1PodSpec): readonly Named[] =>
  [...(pod.initContainers ?? []), ...pod.containers].flatMap(({ env = [], envFrom = [] }) => [
    ...env.flatMap(({ valueFrom }): Named[] => {
      const ref = valueFrom?.secretKeyRef;
      return ref?.name === undefined ? [] : [[ref.name, ref.key]];
    }),
    ...envFrom.map(({ secretRef }): Named => [secretRef?.name ?? '', '']),
  ]);

const keysOfVolumes = (pod: V1PodSpec): readonly Named[] =>
  (pod.volumes ?? []).flatMap(({ secret }): readonly Named[] =>
    secret?.secretName === undefined ? [] : (secret.items ?? []).map(({ key }) => [secret.secretName ?? '', key]),
  );
