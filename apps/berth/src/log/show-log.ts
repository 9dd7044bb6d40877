import { LogCheck, readLines, type LogEntry } from '@berth/endpoint-log';
import type { Conclusion, LogPrinter } from './formats/log-printer.js';
import { entriesBehind, type ReadableLog } from './readable-log.js';
import { EXIT_STATUS, type CommandStatus, type PacedOutput } from '../program/index.js';

export interface Show {
  readonly source: ReadableLog;
  readonly format: LogPrinter;
  readonly output: PacedOutput;
  /** Entries behind this sequence are shown; null: none. */
  readonly after: number | null;
  readonly isFollowing: boolean;
  /** Findings are told at length. */
  readonly isFull: boolean;
}

/**
 * The log's owner may carry and purge while the log is read. A seeming gap is then read again, as owners do: in all
 * that often, and after as many times that pause as it was read before.
 */
const READINGS_MAX = 8;
const NEXT_READING_MS = 100;
const FOLLOW_EVERY_MS = 500;

/**
 * Goes through a log from its first entry, shows it, and says at its end whether it is whole.
 *
 * @throws PlatformError `service-unavailable` when the broker stays away
 */
export async function showLog(show: Show): Promise<CommandStatus> {
  const { format, output, source } = show;
  const reading = new ShownLog(show);
  let check = await reading.throughout();
  // Of half a log nothing can be said.
  if (source.signal.aborted) return EXIT_STATUS.failed;
  while (show.isFollowing && !source.signal.aborted && !output.gone.aborted) {
    await source.clock.sleep(FOLLOW_EVERY_MS, source.signal);
    check = await reading.onwards(check);
  }
  if (output.gone.aborted) return EXIT_STATUS.failed;
  const conclusion = concludeOf(check);
  await output.write(format.conclusion(conclusion, show.isFull));
  return conclusion.findings.length === 0 ? EXIT_STATUS.done : EXIT_STATUS.failed;
}

function concludeOf(check: LogCheck): Conclusion {
  const findings = check.conclude();
  const { last } = check;
  return {
    ...{ findings, found: Math.max(check.found, findings.length), sum: check.sum() },
    removable: last === null || isReadable(last) ? null : last.sequence,
  };
}

const isReadable = (entry: LogEntry): boolean =>
  'facts' in entry && readLines(entry.facts).every(({ fact }) => fact !== null);

/** The part of a log that has been shown, over several readings of it. */
class ShownLog {
  readonly #show: Show;
  #shown: number;
  /** Gaps that stayed, however often the log was read. */
  #gaps = 0;

  constructor(show: Show) {
    this.#show = show;
    this.#shown = show.after ?? Number.POSITIVE_INFINITY;
  }

  /** From the first entry. */
  async throughout(): Promise<LogCheck> {
    const { clock, signal } = this.#show.source;
    let check = await this.#read(new LogCheck());
    for (let readings = 1; check.gaps > this.#gaps && readings < READINGS_MAX; readings += 1) {
      await clock.sleep(NEXT_READING_MS * readings, signal);
      check = await this.#read(new LogCheck());
    }
    this.#gaps = check.gaps;
    return check;
  }

  /** Reads the entries that have come since. */
  async onwards(before: LogCheck): Promise<LogCheck> {
    const check = await this.#read(before);
    return check.gaps > this.#gaps ? this.throughout() : check;
  }

  async #read(check: LogCheck): Promise<LogCheck> {
    const { format, output, source } = this.#show;
    for await (const entry of entriesBehind(source, check.last?.sequence ?? 0)) {
      const checked = check.add(entry);
      if (entry.sequence > this.#shown) {
        this.#shown = entry.sequence;
        await output.write(format.entry(checked));
      }
      if (output.gone.aborted || source.signal.aborted) break;
    }
    return check;
  }
}
