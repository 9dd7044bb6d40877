import { well, wrong, type Finding } from '../finding.js';

const DAY_MS = 24 * 60 * 60_000;
const DAYS_MIN = 30;

/** @param untilMs end of a certificate that somebody showed; null: it showed none that says so */
export function judgeCertificate(what: string, untilMs: number | null, nowMs: number): readonly Finding[] {
  if (untilMs === null) return [];
  const days = Math.floor((untilMs - nowMs) / DAY_MS);
  const says = `${what}: ${String(days)} days left`;
  if (days >= DAYS_MIN) return [well('certificates', says)];
  return [
    wrong(
      'certificates',
      says,
      '`berth init DIR --renew-certificates`, then `nats-server --signal reload` on each broker and pg_reload_conf()',
    ),
  ];
}

/** A `Date` header has whole seconds, and an answer may be on its way for one. */
const OFFSET_MAX_MS = 5_000;

/** @param offsetMs how far the other's clock is ahead of this machine's */
export function judgeClock(what: string, offsetMs: number): Finding {
  const seconds = Math.round(Math.abs(offsetMs) / 1_000);
  const word = offsetMs > 0 ? 'ahead of' : 'behind';
  if (Math.abs(offsetMs) <= OFFSET_MAX_MS) return well('clocks', `${what} and this machine agree within 5 s`);
  return wrong(
    'clocks',
    `${what} is ${String(seconds)} s ${word} this machine`,
    'let both set their clocks by NTP (`timedatectl`)',
  );
}
