import type { Illegality } from '@berth/domain';
import type { IndexDifference, LogFinding } from '@berth/endpoint-log';
import { instantText } from './amounts.js';

/** Why a fact cannot be, for the operator who has to make something of it. */
const ILLEGALITIES: Readonly<Record<Illegality, string>> = {
  'not-in-this-state': 'nothing of the kind can happen to what it is about, as that is by then',
  'before-the-last': 'it is older than the fact before it',
  'other-attempt': 'it is of another attempt than the job’s',
  'other-token': 'it is in the name of somebody who does not hold it',
  'other-count': 'it counts otherwise than the facts before it',
  'other-item': 'an item of a request with a key is missing, or there twice',
  'other-owner': 'its term is over',
  'not-carried': 'what it carries, or covers, is not what is there',
};

/** One line; the place in front. */
export function findingText(finding: LogFinding): string {
  const place = `#${finding.sequence}`;
  switch (finding.kind) {
    case 'unreadable':
      return `${place}${finding.line === null ? '' : ` line ${finding.line}`} cannot be read: ${finding.reason}`;
    case 'illegal':
      return `${place} line ${finding.line} cannot be: ${finding.fact}, ${ILLEGALITIES[finding.why]} (${finding.why})`;
    case 'unchained':
      return `${place} follows #${finding.after}, and #${finding.before} is what lies before it`;
    case 'other-index':
      return `${place} has an index that says ${differenceText(finding)}`;
    case 'beginning-gone':
      return `${place} is the first batch, and what lived before it was not carried`;
    default:
      return finding satisfies never;
  }
}

/** The owner that opens the endpoint goes by the facts: an index that says something else loses nothing. */
export const isHarmless = ({ kind }: LogFinding): boolean => kind === 'other-index';

function differenceText({ found, member, told }: IndexDifference): string {
  const isInstant = member.endsWith('AtMs');
  const textOf = (value: number | null): string =>
    value === null ? 'nothing' : isInstant ? instantText(value) : String(value);
  return `${member} ${textOf(told)} where the facts say ${textOf(found)}`;
}
