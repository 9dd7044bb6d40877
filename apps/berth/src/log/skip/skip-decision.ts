import { readLines, type FactLine, type LogEntry } from '@berth/endpoint-log';
import { LOG_FORMAT, type InspectedEntry } from '@berth/messaging';
import { countText } from '../formats/amounts.js';

/** Whether one entry of a log may be removed. */
export type SkipDecision =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'removable'; readonly why: string; readonly inspected: InspectedEntry };

const refused = (why: string): SkipDecision => ({ kind: 'refused', why });

/**
 * Only the last entry may go, and only where it cannot be read. No owner appends behind what it cannot read, so
 * whatever a stranger put into a log is its last entry, and nothing rests on it. An entry that can be read has been
 * told to somebody, also where it turns out to be illegal: without it, jobs that were accepted would be gone. And from
 * the middle of a log nothing can be taken that the facts behind it do not rest on.
 *
 * @param inspected null: that sequence is none of the endpoint's
 * @param behind the next entry of the endpoint; null: there is none
 */
export function decideSkip(inspected: InspectedEntry | null, behind: LogEntry | null): SkipDecision {
  if (inspected === null) return refused('it is no batch of this endpoint. Nothing was changed.');
  const { entry, format } = inspected;
  if (format !== null && format !== LOG_FORMAT) {
    return refused(`it says that it is of format ${format}: a Berth that reads that format must look at it.`);
  }
  const reason = 'unreadable' in entry ? entry.unreadable : whyHarmed(readLines(entry.facts));
  if (reason === null) {
    return refused('it can be read. What an owner wrote, and told its callers of, is never removed.');
  }
  if (behind !== null) {
    return refused(`#${behind.sequence} lies behind it and rests upon it; only the last one of a log can be removed.`);
  }
  return { kind: 'removable', why: reason, inspected };
}

/** Null: all of its lines are facts. */
function whyHarmed(lines: readonly FactLine[]): string | null {
  const harmed = lines.filter(({ fact }) => fact === null).length;
  if (harmed === 0) return null;
  return `${harmed} of its ${countText(lines.length, 'line')} ${harmed === 1 ? 'is no fact' : 'are no facts'}`;
}
