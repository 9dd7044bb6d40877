import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  StackingMode,
  TooltipDisplayMode,
  type DataSourceRef,
} from '@grafana/grafana-foundation-sdk/common';
import * as common from '@grafana/grafana-foundation-sdk/common';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** Grafana's names of units: `s` seconds, `reqps` requests per second, `percentunit` a share of 1. */
type Unit = 'short' | 's' | 'bytes' | 'Bps' | 'ops' | 'reqps' | 'percentunit';

interface Query {
  readonly expr: string;
  /** How its series are called: text, with `{{label}}` for what a label says. */
  readonly legend: string;
}

export interface PanelSpec {
  readonly title: string;
  /** A sentence for who looks at it at night. */
  readonly says: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
}

/** Whichever Prometheus the viewer has chosen above. */
export const DATASOURCE: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

const WIDTH = { graph: 12, figure: 6 } as const;
const HEIGHT = { graph: 8, figure: 4 } as const;

const targetsOf = (queries: readonly Query[]): DataqueryBuilder[] =>
  queries.map(({ expr, legend }, index) =>
    new DataqueryBuilder()
      .refId(String.fromCharCode('A'.charCodeAt(0) + index))
      .datasource(DATASOURCE)
      .expr(expr)
      .legendFormat(legend)
      // Dots in the graph of a time, each of which is a trace.
      .exemplar(expr.startsWith('histogram_quantile')),
  );

/** Over time. @param isStacked the series are parts of one whole */
export function graph({ queries, says, title, unit }: PanelSpec, isStacked = false): Builder<Panel> {
  return new TimeseriesBuilder()
    .title(title)
    .description(says)
    .datasource(DATASOURCE)
    .unit(unit)
    .min(0)
    .span(WIDTH.graph)
    .height(HEIGHT.graph)
    .drawStyle(GraphDrawStyle.Line)
    .fillOpacity(isStacked ? 30 : 5)
    .stacking(new common.StackingConfigBuilder().mode(isStacked ? StackingMode.Normal : StackingMode.None))
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new common.VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi))
    .targets(targetsOf(queries));
}

/** What it is now, as a number. */
export function figure({ queries, says, title, unit }: PanelSpec): Builder<Panel> {
  return new StatBuilder()
    .title(title)
    .description(says)
    .datasource(DATASOURCE)
    .unit(unit)
    .span(WIDTH.figure)
    .height(HEIGHT.figure)
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .targets(targetsOf(queries));
}
