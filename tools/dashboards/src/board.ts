import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
  type Dashboard,
  type Panel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './panels.js';

export interface BoardSpec {
  /** Of its address, and of its file: it stays when the title changes. */
  readonly uid: string;
  readonly title: string;
  readonly says: string;
  readonly panels: readonly Builder<Panel>[];
  /** A label of these metrics by which the viewer chooses what is shown: `$name` in queries. */
  readonly choice?: { readonly name: string; readonly label: string; readonly metrics: readonly string[] };
}

/** A dashboard of the last six hours, with a choice of the Prometheus that is asked. */
export function makeBoard({ choice, panels, says, title, uid }: BoardSpec): Dashboard {
  const board = new DashboardBuilder(title)
    .uid(uid)
    .description(says)
    .tags(['berth'])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .timezone('browser')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'));
  if (choice !== undefined) board.withVariable(choiceOf(choice));
  for (const panel of panels) board.withPanel(panel);
  const built = board.build();
  // Links to a panel go by its number.
  return { ...built, panels: (built.panels ?? []).map((panel, index) => ({ ...panel, id: index + 1 })) };
}

function choiceOf({ label, metrics, name }: NonNullable<BoardSpec['choice']>): QueryVariableBuilder {
  const query = `label_values({__name__=~"${metrics.join('|')}"}, ${name})`;
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query(query)
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue('.*');
}
