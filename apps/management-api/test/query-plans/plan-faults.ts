import type { DataSource } from 'typeorm';
import type { Statement } from './statement-recorder.js';

/** A step of PostgreSQL's plan, as far as we look at it. */
export interface PlanStep {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly 'Total Cost': number;
  readonly Plans?: readonly PlanStep[];
}

/** What the rules need to know of the schema. */
export interface Catalog {
  /** Tables with so many rows that no request may read one whole. */
  readonly bigTables: ReadonlySet<string>;
  /** Indexes of some rows only: such a one may be read whole. */
  readonly partialIndexes: ReadonlySet<string>;
}

/** A page costs 1, or 4 where it is not the next one: some hundred rows wherever they lie. */
const COST_MAX = 2_000;
/** Of a statement whose purpose is to read a big table whole; the greatest table of all costs many times that. */
const WHOLE_COST_MAX = 15_000;

export async function planOf(source: DataSource, { parameters, text }: Statement): Promise<PlanStep> {
  const explain = `EXPLAIN (FORMAT JSON) ${text}`;
  const [row] = await source.query<{ 'QUERY PLAN': [{ Plan: PlanStep }] }[]>(explain, [...parameters]);
  if (row === undefined) throw new Error('there is no plan');
  return row['QUERY PLAN'][0].Plan;
}

export const indexesUsed = (plan: PlanStep): readonly string[] =>
  stepsOf(plan).flatMap(({ step }) => step['Index Name'] ?? []);

/**
 * What a plan does that grows with the table and not with the answer.
 *
 * @param whole big tables that the statement reads on purpose
 */
export function faultsOf(plan: PlanStep, catalog: Catalog, whole: ReadonlySet<string>): readonly string[] {
  const faults = stepsOf(plan).flatMap((place) => faultOf(place, catalog, whole) ?? []);
  const costMax = whole.size === 0 ? COST_MAX : WHOLE_COST_MAX;
  const cost = plan['Total Cost'];
  return cost <= costMax ? faults : [...faults, `costs ${String(cost)}, more than ${String(costMax)}`];
}

interface Place {
  readonly step: PlanStep;
  /** Something above stops it after some rows. */
  readonly isLimited: boolean;
}

const stepsOf = (step: PlanStep, isLimited = false): readonly Place[] => [
  { step, isLimited },
  ...(step.Plans ?? []).flatMap((below) => stepsOf(below, isLimited || step['Node Type'] === 'Limit')),
];

function faultOf({ isLimited, step }: Place, catalog: Catalog, whole: ReadonlySet<string>): string | null {
  const table = step['Relation Name'];
  if (table === undefined || !catalog.bigTables.has(table) || whole.has(table)) return null;
  if (step['Node Type'] === 'Seq Scan') return `reads all of ${table}`;
  const index = step['Index Name'];
  if (index === undefined || step['Index Cond'] !== undefined || catalog.partialIndexes.has(index)) return null;
  // Stopped after some rows it is cheap, unless it has to look for them.
  return isLimited && step.Filter === undefined ? null : `walks along all of ${index}`;
}
