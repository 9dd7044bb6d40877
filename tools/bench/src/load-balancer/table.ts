import { median, percentile } from '../figures.js';
import type { LoadResult } from '../load.js';
import { DIRECT, NGINX_FRESH, NGINX_KEPT, type Way } from './ways.js';

export interface Round extends LoadResult {
  /** Of one call, in ms, by what the processes are. */
  readonly processorMs: ReadonlyMap<string, number>;
}

const COLUMNS = [
  'per second',
  'of direct',
  'of nginx, kept',
  'of nginx, one each',
  'p50',
  'p99',
  'added p50',
  'added p99',
];
const NAME_WIDTH = 26;

/** The rounds of one case by the ways, which were measured in turn. */
export class Table {
  readonly #rounds: ReadonlyMap<string, Round[]>;

  constructor(ways: readonly Way[]) {
    this.#rounds = new Map(ways.map(({ name }) => [name, []]));
  }

  note({ name }: Way, round: Round): void {
    this.#rounds.get(name)?.push(round);
  }

  /** Ratios and differences are medians of what each round says by itself. */
  lines(): readonly string[] {
    const head = `${''.padEnd(NAME_WIDTH)} | ${COLUMNS.join(' | ')} | processor of a call`;
    return [head, ...[...this.#rounds].map(([name, rounds]) => this.#lineOf(name, rounds))];
  }

  #lineOf(name: string, rounds: readonly Round[]): string {
    const at = (share: number) => (round: Round | undefined) => percentile(round?.latenciesMs ?? [], share);
    const cells = [
      median(rounds.map(({ perSecond }) => perSecond)).toFixed(0),
      ...[DIRECT, NGINX_KEPT, NGINX_FRESH].map((other) => this.#ratio(rounds, other)),
      ...[0.5, 0.99].map((share) => ms(median(rounds.map(at(share))))),
      ...[0.5, 0.99].map((share) => ms(this.#added(rounds, at(share)))),
    ];
    const aligned = cells.map((cell, index) => cell.padStart(COLUMNS[index]?.length ?? 0));
    return `${name.padEnd(NAME_WIDTH)} | ${aligned.join(' | ')} | ${processorOf(rounds)}`;
  }

  #ratio(rounds: readonly Round[], other: string): string {
    const beside = this.#rounds.get(other) ?? [];
    return beside.length === 0
      ? '-'
      : median(rounds.map(({ perSecond }, round) => perSecond / (beside[round]?.perSecond ?? Number.NaN))).toFixed(2);
  }

  #added(rounds: readonly Round[], figureOf: (round: Round | undefined) => number): number {
    const direct = this.#rounds.get(DIRECT) ?? [];
    return median(rounds.map((round, index) => figureOf(round) - figureOf(direct[index])));
  }
}

const ms = (value: number): string => `${value.toFixed(2)} ms`;

function processorOf(rounds: readonly Round[]): string {
  const names = [...(rounds[0]?.processorMs.keys() ?? [])];
  return names
    .map((name) => `${name} ${ms(median(rounds.map(({ processorMs }) => processorMs.get(name) ?? 0)))}`)
    .join(', ');
}
