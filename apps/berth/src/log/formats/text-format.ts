import { cleanText } from '@berth/domain';
import type { CheckedEntry, LogIndex, LogSum, LogWriter, StateSum, StoredBatch } from '@berth/endpoint-log';
import { bytesText, countText, durationText, instantText } from './amounts.js';
import type { FactView } from '../facts/fact-view.js';
import { findingText, isHarmless } from './finding-text.js';
import type { Conclusion, FormatOptions, LogPrinter, SkipNotice } from './log-printer.js';
import { shownLines, type ShownLine } from '../facts/shown-facts.js';

/** Longest line of what strangers wrote: a whole fact, where its payloads are shown. */
const TEXT_MAX_CHARACTERS = 1024 ** 2;
const WIDTHS = { line: 4, offset: 9, kind: 16, job: 36, attempt: 3 } as const;
const MARK = '!!';

/** For people: columns, no colours, nothing that a terminal would obey. */
export class TextFormat implements LogPrinter {
  readonly #options: FormatOptions;

  constructor(options: FormatOptions) {
    this.#options = options;
  }

  entry(checked: CheckedEntry): string {
    const { entry, writer } = checked;
    const lines = shownLines(checked, this.#options);
    if (lines === null) return '';
    if ('unreadable' in entry) return joined([`#${entry.sequence}  ${MARK} cannot be read: ${entry.unreadable}`]);
    const atMs = lines.find(({ view }) => view !== null)?.view?.atMs ?? null;
    return joined([
      batchLine(entry, { atMs, writer, facts: checked.lines.length }),
      `       ${indexText(entry.index)}`,
      ...lines.flatMap((line) => factLines(line, atMs ?? 0)),
    ]);
  }

  conclusion(conclusion: Conclusion, isFull: boolean): string {
    const { findings, found } = conclusion;
    if (!isFull) return joined([verdictText(conclusion), ...hintLines(conclusion)]);
    return joined([
      ...sumLines(conclusion.sum),
      ...findings.map((finding) => `${MARK} ${findingText(finding)}`),
      ...(found > findings.length ? [`${MARK} and ${found - findings.length} more`] : []),
      verdictText(conclusion),
      ...hintLines(conclusion),
    ]);
  }

  skip(notice: SkipNotice): string {
    const place = `#${notice.sequence}`;
    switch (notice.kind) {
      case 'stays':
        return joined([`${place} stays: ${notice.why}`]);
      case 'removable':
        return [
          joined([`${place}, ${bytesText(notice.bytes)}, cannot be read: ${notice.why}`]),
          notice.loss === null ? joined([NO_LOSS]) : `${joined([LOSS])}${this.entry(notice.loss)}`,
          notice.isConfirmed ? '' : joined([unchangedText(notice.sequence)]),
        ].join('');
      case 'removed':
        return joined([`${place} is removed. An owner that had stopped opens the endpoint again within a minute.`]);
      default:
        return notice satisfies never;
    }
  }
}

const NO_LOSS = 'No fact of the endpoint can be made out in it.';
const LOSS = 'What can be made out in it would be lost with it:';
const unchangedText = (sequence: number): string =>
  `Nothing was changed. To remove it: --skip ${sequence} --confirm ${sequence}`;

const joined = (lines: readonly string[]): string => lines.map((line) => `${cleanLine(line)}\n`).join('');

/** A line stays one line, whatever it is made of; the indentation is ours. */
function cleanLine(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? '';
  return `${indent}${cleanText(line, TEXT_MAX_CHARACTERS)}`;
}

function batchLine(
  { after, batchId, facts: { byteLength }, sequence }: StoredBatch,
  { atMs, facts, writer }: { readonly atMs: number | null; readonly facts: number; readonly writer: LogWriter },
): string {
  const parts = [
    `#${sequence}`,
    atMs === null ? 'no instant' : instantText(atMs),
    writerText(writer),
    after === 0 ? 'the first ever' : `after #${after}`,
    `${countText(facts, 'fact')} ${bytesText(byteLength)}`,
    `batch ${batchId}`,
  ];
  return parts.join('  ');
}

function writerText({ routerId, term }: LogWriter): string {
  if (term === null) return 'writer unknown';
  return `${routerId ?? 'a writer'} in term ${term}`;
}

const indexText = (index: LogIndex): string =>
  [
    `waiting ${index.waitingNormal}${index.waitingLow === 0 ? '' : ` and ${index.waitingLow} low`}`,
    ...(index.oldestQueuedAtMs === null ? [] : [`since ${instantText(index.oldestQueuedAtMs)}`]),
    `running ${index.running}${index.runningLow === 0 ? '' : ` (${index.runningLow} low)`}`,
    `living ${index.living}`,
    index.dueAtMs === null ? 'nothing due' : `due ${instantText(index.dueAtMs)}`,
  ].join('; ');

function factLines({ bytes, number, view }: ShownLine, batchAtMs: number): readonly string[] {
  const line = String(number).padStart(WIDTHS.line);
  if (view === null) return [`${line}  ${MARK} cannot be read: ${bytesText(bytes)} that are no fact`];
  const columns = [
    line,
    offsetText(view.atMs - batchAtMs).padEnd(WIDTHS.offset),
    view.kind.padEnd(WIDTHS.kind),
    (view.jobId ?? '').padEnd(WIDTHS.job),
    attemptText(view).padEnd(WIDTHS.attempt),
    view.details.flatMap(({ isLong, text }) => (isLong ? [] : [text])).join(', '),
  ];
  const long = view.details.flatMap(({ isLong, text }) => (isLong ? [`${' '.repeat(LONG_INDENT)}${text}`] : []));
  return [columns.join(' ').trimEnd(), ...long];
}

const LONG_INDENT = WIDTHS.line + WIDTHS.offset + 2;

const offsetText = (ms: number): string => (ms === 0 ? '' : `+${durationText(ms)}`);
const attemptText = ({ attempt }: FactView): string => (attempt === null ? '' : `/${attempt}`);

function verdictText({ findings, found, sum }: Conclusion): string {
  const worst = findings.find((finding) => !isHarmless(finding)) ?? findings[0];
  if (worst === undefined) return `WHOLE: ${sizeText(sum)}${jobsText(sum.state)}`;
  const more = found > 1 ? `; ${countText(found - 1, 'more finding')} (--check lists them)` : '';
  const verdict = isHarmless(worst) ? 'WHOLE, but its index is wrong' : 'BROKEN';
  return `${verdict}: ${findingText(worst)}${more}`;
}

const hintLines = ({ removable }: Conclusion): readonly string[] =>
  removable === null ? [] : [`What would be lost without it: --skip ${removable}`];

const sizeText = ({ batches, bytes, facts, first, last }: LogSum): string =>
  first === null
    ? 'nothing is in it'
    : `${countText(batches, 'batch', 'batches')} (#${first} to #${last}), ${countText(facts, 'fact')}, ${bytesText(bytes)}`;

function jobsText(state: StateSum | null): string {
  if (state === null) return '';
  if (state.isDeleted) return '; the endpoint is deleted';
  const dead = state.deadBytes ?? 0;
  return `; jobs: ${countsText(state)}${dead === 0 ? '' : `; about ${bytesText(dead)} of it dead`}`;
}

function countsText({ jobs }: StateSum): string {
  const counts = Object.entries(jobs).filter(([, count]) => count > 0);
  return counts.length === 0 ? 'none' : counts.map(([state, count]) => `${count} ${state}`).join(', ');
}

function sumLines(sum: LogSum): readonly string[] {
  const { state } = sum;
  if (state === null) return [`log         ${sizeText(sum)}`];
  const { counters, covers, deadBytes, deliveries, isComplete, isDeleted, keys, lastAtMs, livingBytes, term } = state;
  return [
    `log         ${sizeText(sum)}`,
    `state       as of ${instantText(lastAtMs)}${isComplete ? '' : ', before the first fault'}`,
    `owner       term ${term}${isDeleted ? '; the endpoint is deleted' : ''}`,
    `jobs        ${countsText(state)}; inputs and outputs ${bytesText(livingBytes)}`,
    `besides     ${countText(keys, 'idempotency key')}, ${countText(deliveries, 'delivery', 'deliveries')} not over`,
    `so far      ${countsSoFar(counters)}`,
    `carried     ${covers === 0 ? 'nothing yet' : `what lay through #${covers}`}`,
    `dead        ${deadBytes === null ? 'not known' : `about ${bytesText(deadBytes)}, which carrying would free`}`,
  ];
}

const countsSoFar = ({ cancelled, completed, failed, retried, timedOut }: StateSum['counters']): string =>
  `${completed} completed, ${failed} failed, ${timedOut} timed out, ${cancelled} cancelled, ${retried} retried`;
