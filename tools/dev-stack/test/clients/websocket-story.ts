import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';

/** What a client saw at a worker that talks; the Python one prints the same. */
export interface StoryReport {
  readonly protocol: string;
  readonly isDeflated: boolean;
  readonly workerIsNamed: boolean;
  readonly text: string;
  /** In hexadecimal. */
  readonly binary: string;
  /** A message that was sent in three fragments, as it came back. */
  readonly whole: string;
  /** Of 1 MiB that no compression makes smaller. */
  readonly largeIsSame: boolean;
  readonly pong: string;
  /** Code and reason of each close that was the worker's. */
  readonly theirs: readonly (readonly [number, string])[];
  /** Status, header and body of the answer to a wish that the worker refused. */
  readonly refused: readonly [number, string, string];
  /** What the worker says of the handshake. The following are absent where it has no words for them. */
  readonly what?: { readonly protocol: string; readonly isDeflated: boolean };
  /** A ping of the worker, once it was answered. */
  readonly served?: string;
  /** A message that the worker sent in three fragments; a client that cannot see them has one piece. */
  readonly pieces?: readonly string[];
  readonly dropped?: readonly [number, string];
}

export interface StoryPlace {
  readonly url: (path: string) => string;
  readonly headers: Readonly<Record<string, string>>;
  /** The worker's interface has words for fragments, pings and connections. */
  readonly hasFrames: boolean;
}

const LARGE = randomBytes(1_024 * 1_024);
const CODES = [1_000, 3_000, 4_999];

/** Has the public client `ws` talk with a worker at an endpoint. */
export async function tellByWs(place: StoryPlace): Promise<StoryReport> {
  const teller = new WsTeller(place);
  const said = await teller.messages();
  const theirs: (readonly [number, string])[] = [];
  for (const code of CODES) {
    const mine = await teller.open(`/talk?nonce=mine-${code}`);
    const over = closed(mine);
    mine.close(code, `mine, ${code}`);
    await over;
    theirs.push(await teller.closedBy(`!close ${code} theirs, ${code}`));
  }
  const dropped = place.hasFrames ? { dropped: await teller.closedBy('!drop') } : {};
  (await teller.open('/talk?nonce=gone')).terminate();
  return { ...said, theirs, ...dropped, refused: await teller.refused() };
}

class WsTeller {
  readonly #place: StoryPlace;

  constructor(place: StoryPlace) {
    this.#place = place;
  }

  async messages(): Promise<Omit<StoryReport, 'theirs' | 'dropped' | 'refused'>> {
    const socket = this.#dial('/talk?nonce=messages', ['talk.v0', 'talk.v1']);
    const [head] = await event<[IncomingMessage]>(socket, 'upgrade');
    const common = {
      protocol: socket.protocol,
      isDeflated: socket.extensions === 'permessage-deflate',
      workerIsNamed: 'x-runpod-worker-id' in head.headers,
      text: String(await heard(socket, () => socket.send('grüße ✓'))),
      binary: (await heard(socket, () => socket.send(Buffer.of(0, 255, 128)))).toString('hex'),
      whole: String(await heard(socket, () => sendInPieces(socket, ['one, ', 'two, ', 'three']))),
      largeIsSame: (await heard(socket, () => socket.send(LARGE))).equals(LARGE),
      pong: await pongOf(socket, 'there?'),
    };
    const framed = this.#place.hasFrames ? await frames(socket) : {};
    const over = closed(socket);
    socket.close();
    await over;
    return { ...common, ...framed };
  }

  async open(path: string): Promise<WebSocket> {
    const socket = this.#dial(path);
    await event(socket, 'open');
    return socket;
  }

  async closedBy(order: string): Promise<readonly [number, string]> {
    const socket = await this.open('/talk?nonce=theirs');
    const over = closed(socket);
    socket.send(order);
    return over;
  }

  async refused(): Promise<readonly [number, string, string]> {
    const [, answer] = await event<[unknown, IncomingMessage]>(this.#dial('/refuse'), 'unexpected-response');
    return [answer.statusCode ?? 0, String(answer.headers['x-why']), await text(answer)];
  }

  #dial(path: string, protocols: readonly string[] = []): WebSocket {
    const { headers, url } = this.#place;
    return new WebSocket(url(path), [...protocols], { headers });
  }
}

async function frames(socket: WebSocket): Promise<Pick<StoryReport, 'what' | 'served' | 'pieces'>> {
  const what = JSON.parse(String(await heard(socket, () => socket.send('!what')))) as NonNullable<StoryReport['what']>;
  const served = String(await heard(socket, () => socket.send('!ping here!')));
  const pieces = [String(await heard(socket, () => socket.send('!fragments one two three')))];
  return { what, served, pieces };
}

function sendInPieces(socket: WebSocket, pieces: readonly string[]): void {
  pieces.forEach((piece, index) => socket.send(piece, { fin: index === pieces.length - 1 }));
}

/** Rejects when the socket fails first. */
function event<Args extends readonly unknown[]>(socket: WebSocket, name: string): Promise<Args> {
  return new Promise((resolve, reject) => {
    socket.once(name, (...args: unknown[]) => resolve(args as unknown as Args));
    socket.once('error', reject);
  });
}

async function heard(socket: WebSocket, say: () => void): Promise<Buffer> {
  const message = event<[Buffer]>(socket, 'message');
  say();
  const [data] = await message;
  return data;
}

async function pongOf(socket: WebSocket, words: string): Promise<string> {
  const pong = event<[Buffer]>(socket, 'pong');
  socket.ping(words);
  const [data] = await pong;
  return String(data);
}

async function closed(socket: WebSocket): Promise<readonly [number, string]> {
  const [code, reason] = await event<[number, Buffer]>(socket, 'close');
  return [code, String(reason)];
}
