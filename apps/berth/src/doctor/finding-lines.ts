import { cleanText } from '@berth/domain';
import type { Finding } from './finding.js';

const SAYS_MAX = 400;

const WORDS: Readonly<Record<Finding['state'], string>> = { well: 'ok', wrong: 'WRONG', 'left-out': '-' };

/** One line for each finding, in columns, and one that says what they add up to. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const width = Math.max(0, ...findings.map(({ area }) => area.length));
  return [
    ...findings.map(({ area, mend, says, state }) =>
      [
        WORDS[state].padEnd(WORDS.wrong.length),
        area.padEnd(width),
        `${cleanText(says, SAYS_MAX)}${mend === null ? '' : `. Mend: ${cleanText(mend, SAYS_MAX)}`}`,
      ].join('  '),
    ),
    '',
    sumOf(findings),
  ];
}

function sumOf(findings: readonly Finding[]): string {
  const count = (state: Finding['state']): number => findings.filter((finding) => finding.state === state).length;
  const wrong = count('wrong');
  const leftOut = count('left-out');
  const sum = wrong === 0 ? `All that was looked at is well.` : `${String(wrong)} of ${String(findings.length)} wrong.`;
  return leftOut === 0 ? sum : `${sum} ${String(leftOut)} left out.`;
}

/** Whether nothing that was looked at is wrong. */
export const isAllWell = (findings: readonly Finding[]): boolean => findings.every(({ state }) => state !== 'wrong');
