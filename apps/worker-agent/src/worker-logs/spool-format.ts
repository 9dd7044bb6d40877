import type { LogLine, LineSource } from '@berth/domain';

/** A line before it has its sequence. */
export type NewLine = Omit<LogLine, 'sequence'>;

/** What stands behind every batch: without it a batch is not there, so lines and position are kept together or not at all. */
export interface SpoolMark {
  /** Sequence of the next line. */
  readonly next: number;
  /** How far the container's output was read; null: nothing was. */
  readonly position: string | null;
  /** Names the last thing that was said once; null: there is none. */
  readonly key: string | null;
}

/** The marked part of a segment. */
export interface SegmentContent {
  readonly lines: readonly LogLine[];
  /** Null: not one batch is whole. */
  readonly mark: SpoolMark | null;
  /** Bytes up to the last mark; what is behind it was interrupted. */
  readonly bytes: number;
}

const SOURCE_LETTERS: Readonly<Record<LineSource, string>> = { container: 'c', system: 's' };

/** A batch as it is appended: a list for each line, and an object as its mark. */
export function encodeBatch(lines: readonly NewLine[], mark: SpoolMark): Buffer {
  const texts = lines.map(({ atMs, jobId, line, source }) =>
    JSON.stringify([atMs, SOURCE_LETTERS[source], line, ...(jobId === undefined ? [] : [jobId])]),
  );
  return Buffer.from(`${[...texts, JSON.stringify(mark)].join('\n')}\n`);
}

/** @param firstSequence of the segment. What is no line or mark of ours ends what can be read of it. */
export function readSegment(content: Buffer, firstSequence: number): SegmentContent {
  const lines: LogLine[] = [];
  let whole: Omit<SegmentContent, 'lines'> & { readonly count: number } = { mark: null, bytes: 0, count: 0 };
  let at = 0;
  for (let end = content.indexOf('\n'); end >= 0; end = content.indexOf('\n', at)) {
    const record = parse(content.toString('utf8', at, end));
    at = end + 1;
    if (record === null) break;
    if (Array.isArray(record)) lines.push(lineOf(record, firstSequence + lines.length));
    else whole = { mark: record as SpoolMark, bytes: at, count: lines.length };
  }
  return { lines: lines.slice(0, whole.count), mark: whole.mark, bytes: whole.bytes };
}

function parse(text: string): unknown[] | object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    // An interrupted write, or a damaged disk: what comes before it stands.
    return null;
  }
}

const lineOf = ([atMs, letter, line, jobId]: readonly unknown[], sequence: number): LogLine => ({
  sequence,
  atMs: atMs as number,
  source: letter === 's' ? 'system' : 'container',
  line: line as string,
  ...(typeof jobId === 'string' ? { jobId } : {}),
});
