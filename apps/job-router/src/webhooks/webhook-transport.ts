import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import { TRY_TIMEOUT_MS, type TryResult } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { NameLookup } from './name-lookup.port.js';
import { literalAddress, type WebhookAddresses } from '../platform/index.js';

/** How a try ended, as metrics tell it. */
type ReceiptKind =
  'delivered' | 'refused' | 'redirected' | 'timed-out' | 'unreachable' | 'forbidden-address' | 'payload-gone';

export interface Receipt extends TryResult {
  readonly kind: ReceiptKind;
}

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface WebhookTransportOptions {
  readonly addresses: WebhookAddresses;
  readonly names: NameLookup;
  readonly clock: Clock;
}

/** Of an answer's body so much is read; what it says of a failure is for the log. */
const ANSWER_MAX_BYTES = 4_096;
const EXCERPT_MAX = 200;

/**
 * Sends one request to a place that a tenant named. The name is looked up once, every address of it is checked, and the
 * connection goes to one of these very addresses: a name that changes in between changes nothing. Redirects are not
 * followed, connections not kept.
 */
export class WebhookTransport {
  readonly #options: WebhookTransportOptions;

  constructor(options: WebhookTransportOptions) {
    this.#options = options;
  }

  async post(request: WebhookRequest): Promise<Receipt> {
    const done = new AbortController();
    const late = new AbortController();
    void this.#options.clock.sleep(TRY_TIMEOUT_MS, done.signal).then(() => {
      late.abort();
    });
    try {
      // A try ends in time also where the connection says neither an answer nor an error: its place is one of few.
      return await unlessAborted(this.#send(request, late.signal), late.signal);
    } catch (error) {
      return late.signal.aborted ? TIMED_OUT : failed('unreachable', describe(error));
    } finally {
      done.abort();
    }
  }

  async #send({ url, headers, body }: WebhookRequest, signal: AbortSignal): Promise<Receipt> {
    const target = new URL(url);
    const addresses = await unlessAborted(this.#addressesOf(target), signal);
    const refusals = addresses.map((address) => this.#options.addresses.refusalOf(address));
    const refusal = refusals.find((each) => each !== null);
    if (refusal !== undefined && refusal !== null) return failed('forbidden-address', `the webhook ${refusal}`);
    return exchange(target, { headers, body }, { lookup: pinnedTo(addresses), signal });
  }

  async #addressesOf({ hostname }: URL): Promise<readonly string[]> {
    const literal = literalAddress(hostname);
    if (literal !== null) return [literal];
    const found = await this.#options.names.addressesOf(hostname);
    if (found.length === 0) throw new Error(`no address of ${hostname} was found`);
    return found;
  }
}

const failed = (kind: ReceiptKind, error: string, statusCode: number | null = null): Receipt => ({
  kind,
  isSuccess: false,
  statusCode,
  error,
});

const TIMED_OUT = failed('timed-out', `no whole answer within ${TRY_TIMEOUT_MS / 1000} s`);

/** To another protocol, with which a receiver could keep the connection for as long as it likes. */
const SWITCHED = failed('refused', 'answered 101: no other protocol is spoken', 101);

/** Answers every question for the name with what was checked. */
const pinnedTo =
  (addresses: readonly string[]): LookupFunction =>
  (_name, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const [first] = found;
    if (all === true) callback(null, found);
    else if (first !== undefined) callback(null, first.address, first.family);
  };

function exchange(
  target: URL,
  { headers, body }: Pick<WebhookRequest, 'headers' | 'body'>,
  { lookup, signal }: { readonly lookup: LookupFunction; readonly signal: AbortSignal },
): Promise<Receipt> {
  const send = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    // Without an agent the connection is this request's own, and closed after it.
    const request = send(target, { method: 'POST', agent: false, headers: { ...headers }, lookup, signal });
    request.once('error', reject);
    // Without this listener Node closes the connection and says neither that there was an answer nor that there is none.
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(SWITCHED);
    });
    request.once('response', (response: IncomingMessage) => {
      receiptOf(response).then(resolve, reject);
    });
    request.end(body);
  });
}

async function receiptOf(response: IncomingMessage): Promise<Receipt> {
  const status = response.statusCode ?? 0;
  const isSuccess = status >= 200 && status < 300;
  // The status alone decides, so an answer that breaks off behind it is none the less one.
  const text = await readStart(response).catch(() => '');
  if (isSuccess) return { kind: 'delivered', isSuccess, statusCode: status, error: null };
  if (status >= 300 && status < 400)
    return failed('redirected', `answered ${status}: redirects are not followed`, status);
  return failed('refused', `answered ${status}${text === '' ? '' : `: ${text}`}`, status);
}

async function readStart(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.byteLength;
    if (size >= ANSWER_MAX_BYTES) break;
  }
  return excerpt(Buffer.concat(parts).toString('utf8'));
}

/** One line without anything that a terminal would obey. */
const excerpt = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT_MAX);

function describe(error: unknown): string {
  const each = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return `could not be reached: ${excerpt(each instanceof Error ? each.message : String(each))}`;
}

/** @throws Error once `signal` aborts; what was asked goes on and is not heard */
function unlessAborted<T>(asked: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new Error('aborted'));
    };
    signal.addEventListener('abort', abort, { once: true });
    asked.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}
