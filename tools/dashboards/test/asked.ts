import { parser } from '@prometheus-io/lezer-promql';

export interface Asked {
  /** By name: the labels that its matchers name. */
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[];
  /** Labels by which is summed or joined. */
  readonly labels: readonly string[];
}

/**
 * What a query asks for. The variables of a dashboard stand in it as Grafana would fill them in.
 *
 * @throws Error where it is no query, or names a metric by a matcher
 */
export function askedIn(query: string): Asked {
  const text = withoutVariables(query);
  const metrics: { name: string; labels: string[] }[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter: ({ from, name, node, to, type }) => {
      if (type.isError) throw new Error(`no query: ${text}, at ${from}`);
      const word = text.slice(from, to);
      if (name === 'VectorSelector') metrics.push({ name: '', labels: [] });
      const last = metrics.at(-1);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector' && last !== undefined) last.name = word;
      if (name !== 'LabelName') return;
      if (node.parent?.name === 'GroupingLabels') labels.push(word);
      else last?.labels.push(word);
    },
  });
  if (metrics.some(({ name }) => name === '')) throw new Error(`a metric without a name: ${text}`);
  return { metrics, labels };
}

/** What the viewer of a dashboard chooses by: a label of any of some metrics. @throws Error where it is no choice of ours */
export function choiceIn(definition: string): {
  readonly selector: string;
  readonly metrics: readonly string[];
  readonly label: string;
} {
  const [, selector, metrics, label] = /^label_values\((\{__name__=~"([\w|]+)"\}), (\w+)\)$/.exec(definition) ?? [];
  if (selector === undefined || metrics === undefined || label === undefined)
    throw new Error(`no choice: ${definition}`);
  return { selector, metrics: metrics.split('|'), label };
}

/** A query over five minutes, and for whatever the viewer could choose. */
export const withoutVariables = (query: string): string =>
  query.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*');
