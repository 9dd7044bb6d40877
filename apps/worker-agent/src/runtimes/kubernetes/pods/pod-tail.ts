import type { ClusterApi } from '@berth/cluster-api';
import { PRINTED_LINES_MAX } from '../../container-runtime.port.js';
import { askApiUnless } from '../api/cluster-errors.js';
import { printedIn } from './pod-log.js';

export interface PodTailOptions {
  readonly api: Pick<ClusterApi, 'read'>;
  /** Of the Pod's log. */
  readonly path: string;
  /** Told what the answer has that no program has printed. */
  readonly onWords: (words: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Of an answer with the last lines. */
const LOG_BYTES_MAX = 8 * 2 ** 20;

/** The last lines of a Pod's log, oldest first. @throws RuntimeError `runtime-unavailable` */
export async function readPodTail(
  lines: number,
  { api, onWords, path, signal }: PodTailOptions,
): Promise<readonly string[]> {
  const tailLines = Math.min(lines, PRINTED_LINES_MAX);
  if (tailLines === 0) return [];
  // The times are asked for because they tell a program's lines from the kubelet's words.
  const query = { tailLines, limitBytes: LOG_BYTES_MAX, timestamps: true };
  // It has none yet, or none any more.
  const text = await askApiUnless([400, 404], 'The log of a Pod cannot be read', () =>
    api.read(path, { query, signal }),
  );
  const { printed, words } = printedIn(text ?? '');
  if (words !== null) onWords(words);
  return printed;
}
