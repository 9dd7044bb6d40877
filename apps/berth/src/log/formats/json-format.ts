import type { CheckedEntry, StoredBatch } from '@berth/endpoint-log';
import { printableJson } from '../../program/index.js';
import { instantText } from './amounts.js';
import { isHarmless } from './finding-text.js';
import type { Conclusion, FormatOptions, LogPrinter, SkipNotice } from './log-printer.js';
import { shownLines, type ShownLine } from '../facts/shown-facts.js';

/**
 * For programs: one object a line, of type `batch`, `fact`, `unreadable`, `skip` or, at the end, `finding` and `verdict`.
 */
export class JsonFormat implements LogPrinter {
  readonly #options: FormatOptions;

  constructor(options: FormatOptions) {
    this.#options = options;
  }

  entry(checked: CheckedEntry): string {
    const { entry } = checked;
    const lines = shownLines(checked, this.#options);
    if (lines === null) return '';
    const { sequence } = entry;
    if ('unreadable' in entry) {
      return joined([{ type: 'unreadable', sequence, line: null, reason: entry.unreadable }]);
    }
    return joined([batchObject(checked, entry), ...lines.map((line) => factObject(line, sequence))]);
  }

  conclusion({ findings, found, sum }: Conclusion): string {
    const verdict = findings.length === 0 ? 'whole' : findings.every(isHarmless) ? 'other-index' : 'broken';
    return joined([
      ...findings.map((finding) => ({ type: 'finding', ...finding })),
      { type: 'verdict', verdict, findings: found, ...sum },
    ]);
  }

  skip(notice: SkipNotice): string {
    const { kind, sequence } = notice;
    const said = { type: 'skip', outcome: kind, sequence };
    switch (kind) {
      case 'stays':
        return joined([{ ...said, reason: notice.why }]);
      case 'removable':
        return `${joined([{ ...said, reason: notice.why, bytes: notice.bytes }])}${notice.loss === null ? '' : this.entry(notice.loss)}`;
      case 'removed':
        return joined([said]);
      default:
        return notice satisfies never;
    }
  }
}

const joined = (objects: readonly object[]): string => objects.map((each) => `${printableJson(each)}\n`).join('');

function batchObject({ lines, writer }: CheckedEntry, { after, batchId, facts, index, sequence }: StoredBatch): object {
  const atMs = lines.find(({ fact }) => fact !== null)?.fact?.atMs;
  return {
    ...{ type: 'batch', sequence, at: atMs === undefined ? null : instantText(atMs), after, batchId, ...writer },
    ...{ facts: lines.length, bytes: facts.byteLength, index },
  };
}

function factObject({ bytes, number, view }: ShownLine, sequence: number): object {
  const place = { sequence, line: number };
  if (view === null) return { type: 'unreadable', ...place, reason: 'it is no fact', bytes };
  const { atMs, attempt, details, jobId, kind } = view;
  const said = Object.fromEntries(details.map(({ name, value }) => [name, value]));
  return { type: 'fact', ...place, at: instantText(atMs), kind, jobId, attempt, ...said };
}
