import { request, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { cleanText, type HealthAnswer } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { dialOptions } from './dial-address.js';

/** Where one worker is asked whether it is well. */
export interface HealthTarget {
  readonly address: string;
  /** At least one. */
  readonly healthPorts: readonly number[];
  readonly healthPath: string;
}

interface CheckOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const CHECK_MAX_MS = 2_000;
/** Of an answer whose status counts: what it says beyond that is read and thrown away. */
const BODY_MAX_BYTES = 65_536;
const HEAD_MAX_BYTES = 16_384;
const PATH_SHOWN_MAX = 100;
const OK = 200;
const NO_CONTENT = 204;

/** The best answer of its ports, which are asked in their order until one is good (wire contract 4). Never rejects. */
export async function checkHealth(target: HealthTarget, options: CheckOptions): Promise<HealthAnswer> {
  const failures: string[] = [];
  let initializing: HealthAnswer | null = null;
  for (const port of target.healthPorts) {
    const answer = await checkPort({ ...target, port }, options);
    if (answer.kind === 'ready') return answer;
    if (answer.kind === 'failed') failures.push(answer.words);
    else initializing ??= answer;
  }
  // Of all of them: which one the worker meant it knows best.
  return initializing ?? { kind: 'failed', words: failures.join('; ') };
}

function checkPort(
  { address, healthPath, port }: HealthTarget & { readonly port: number },
  { clock, signal }: CheckOptions,
): Promise<HealthAnswer> {
  const what = `GET ${cleanText(healthPath, PATH_SHOWN_MAX)} on port ${port}`;
  const failed = (how: string): HealthAnswer => ({ kind: 'failed', words: `${what} ${how}` });
  return new Promise((resolve) => {
    const asked = ask({ ...dialOptions(address), port, path: healthPath });
    if (asked === null) {
      resolve(failed('cannot be asked'));
      return;
    }
    const end = (answer: HealthAnswer): void => {
      resolve(answer);
      asked.destroy();
    };
    const cancel = clock.after(CHECK_MAX_MS, () => {
      end(failed(`had no answer within ${CHECK_MAX_MS / 1000} s`));
    });
    const giveUp = (): void => {
      end(failed('was given up'));
    };
    signal.addEventListener('abort', giveUp);
    asked.on('response', (response) => {
      resolve(answerOf(what, port, response.statusCode ?? 0));
      discard(response, asked);
    });
    // Node would close the connection as well, but leave out that there was an answer.
    asked.on('upgrade', ({ statusCode = 0 }) => {
      end(answerOf(what, port, statusCode));
    });
    asked.on('error', (error: NodeJS.ErrnoException) => {
      end(failed(`failed: ${error.code ?? cleanText(error.message, PATH_SHOWN_MAX)}`));
    });
    asked.on('close', () => {
      cancel();
      signal.removeEventListener('abort', giveUp);
      resolve(failed('had no answer'));
    });
    asked.end();
  });
}

/** Null for a path that no request line can hold. */
function ask(where: Pick<RequestOptions, 'host' | 'lookup' | 'port' | 'path'>): ClientRequest | null {
  try {
    const headers = { 'user-agent': 'berth-health-check', connection: 'close' };
    return request({ ...where, agent: false, maxHeaderSize: HEAD_MAX_BYTES, headers });
  } catch {
    return null;
  }
}

function answerOf(what: string, port: number, status: number): HealthAnswer {
  const words = `${what} answered ${status}`;
  if (status === OK) return { kind: 'ready', words, port };
  return status === NO_CONTENT ? { kind: 'initializing', words, port } : { kind: 'failed', words };
}

function discard(response: IncomingMessage, asked: ClientRequest): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) asked.destroy();
  });
  // The status has been told; how the rest fails changes nothing.
  response.on('error', () => asked.destroy());
}
