import type { CheckedEntry, CheckedLine } from '@berth/endpoint-log';
import { viewFact, type FactView } from './fact-view.js';
import type { FormatOptions } from '../formats/log-printer.js';

/** A line of a batch that is shown; without a view where it is no fact. */
export interface ShownLine {
  readonly number: number;
  readonly bytes: number;
  readonly view: FactView | null;
}

/** Null: nothing of the entry is of interest. An entry that cannot be read always is. */
export function shownLines({ entry, lines }: CheckedEntry, options: FormatOptions): readonly ShownLine[] | null {
  const shown = lines.map((line) => shownLine(line, options)).filter((line) => line !== null);
  return options.jobId === null || shown.length > 0 || 'unreadable' in entry ? shown : null;
}

function shownLine({ bytes, fact, number, touched }: CheckedLine, options: FormatOptions): ShownLine | null {
  if (fact === null) return { number, bytes, view: null };
  const { jobId } = options;
  const view = viewFact(fact, options);
  if (jobId === null || view.jobId === jobId) return { number, bytes, view };
  if (!touched.includes(jobId)) return null;
  const among = { name: 'touchedJobId', value: jobId, text: `${jobId} among them` };
  return { number, bytes, view: { ...view, details: [...view.details, among] } };
}
