import type { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import supertest from 'supertest';

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string | undefined;
}

interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came. */
  readonly received: string;
}

type Verb = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put';

/** One request over the socket of a process that listens. Every answer is an answer, whatever its status. */
export async function request(url: string, { method, path, headers, text }: SentRequest): Promise<ReceivedAnswer> {
  const sent = supertest(url)[method.toLowerCase() as Verb](path).set(headers).buffer(true);
  // The library's types take what is parsed for its own answer; it is Node's.
  sent.parse((answer, done) => {
    readText(answer as unknown as IncomingMessage, { done: (read) => done(null, read), stop: () => void sent.abort() });
  });
  // A stream that is cut off here says so, to nobody.
  sent.once('response', (answer: EventEmitter) => answer.on('error', () => undefined));
  const answer = await (text === undefined ? sent : sent.send(text));
  return {
    status: answer.status,
    headers: new Headers(answer.headers),
    received: typeof answer.body === 'string' ? answer.body : '',
  };
}

interface Reading {
  readonly done: (text: string) => void;
  readonly stop: () => void;
}

/** All of a body; of a stream of events, which has no end, what comes first. */
function readText(answer: IncomingMessage, { done, stop }: Reading): void {
  const isEvents = answer.headers['content-type']?.startsWith('text/event-stream') === true;
  let text = '';
  answer.setEncoding('utf8');
  answer.on('data', (chunk: string) => {
    text += chunk;
    if (!isEvents || !text.includes('data: ')) return;
    done(text);
    stop();
  });
  answer.on('end', () => done(text));
}
