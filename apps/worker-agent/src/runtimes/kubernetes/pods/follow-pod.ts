import type { Clock } from '@berth/lifecycle';
import type { OwnedContainer, PrintedBatch } from '../../container-runtime.port.js';
import { isAnswered, type ClusterApi } from '@berth/cluster-api';
import { fromClusterError } from '../api/cluster-errors.js';
import { PodLog } from './pod-log.js';

export interface FollowPodOptions {
  readonly api: Pick<ClusterApi, 'stream'>;
  /** Of the Pod's log. */
  readonly path: string;
  /** Told what the answers have that no program has printed, whenever that is another thing. */
  readonly onWords: (words: string) => void;
  readonly look: () => OwnedContainer | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** An answer ends with its kubelet, and when nothing was printed for minutes; it is asked for again after this. */
const ASK_AGAIN_MS = 250;
/** What the API says of a Pod that is gone, or has no log yet or no more. */
const NO_LOG = [400, 404, 409];

/** Reads a Pod's log from a position on, until it has ended and the API has told all of it. */
export async function* followPod(
  from: string | null,
  { api, clock, look, onWords, path, signal }: FollowPodOptions,
): AsyncGenerator<PrintedBatch> {
  let position = from;
  let known: string | null = null;
  const tellWords = newsOnly(onWords);
  while (!signal.aborted) {
    // Before the question: who has ended before it prints nothing after it.
    const found = look();
    if (found === null || found.state.kind === 'created') return;
    if (known !== null && known !== found.containerId) return;
    known = found.containerId;
    const log = new PodLog(position, known);
    for await (const batch of readLog(log, { api, path, signal })) {
      ({ position } = batch);
      yield batch;
    }
    tellWords(log.words);
    if (found.state.kind === 'ended') return;
    await clock.sleep(ASK_AGAIN_MS, signal);
  }
}

/** Each answer to a question that is asked again and again may have the same words. */
function newsOnly(tell: (words: string) => void): (words: string | null) => void {
  let last: string | null = null;
  return (words) => {
    if (words === null || words === last) return;
    last = words;
    tell(words);
  };
}

/** One answer of the API; none where the Pod is gone. */
async function* readLog(
  log: PodLog,
  { api, path, signal }: Pick<FollowPodOptions, 'api' | 'path' | 'signal'>,
): AsyncGenerator<PrintedBatch> {
  const { sinceTime } = log;
  const query = { follow: true, timestamps: true, ...(sinceTime === null ? {} : { sinceTime }) };
  try {
    for await (const bytes of api.stream(path, query, signal)) {
      const batch = log.take(bytes);
      if (batch !== null) yield batch;
    }
    const rest = log.finish();
    if (rest !== null) yield rest;
  } catch (error) {
    if (signal.aborted || isAnswered(error, ...NO_LOG) || isBrokenOff(error)) return;
    throw fromClusterError(error, 'The log of a Pod cannot be read');
  }
}

/** What the client says of an answer that ended before its time; it is asked for again from where it was read to. */
const isBrokenOff = (error: unknown): boolean =>
  error instanceof TypeError && /terminated|body timeout|socket/i.test(`${error.message} ${String(error.cause)}`);
