import { readJson } from '@berth/contracts';
import { count, listOf, objectOf, optional, orNull, readShape, text, type Shape } from '@berth/domain/shape';
import type { HostId } from '@berth/domain';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { anyText } from '../broker/read-answer.js';

/** One connection that a broker has let in, by the name under which it was. */
export interface AgentConnection {
  readonly serverId: string;
  /** The server's own number of it. */
  readonly connectionId: number;
  /** Of an agent: its host. Of anybody else: whatever names its user. */
  readonly user: HostId;
}

interface ToldConnection {
  readonly cid: number;
  readonly authorized_user?: string;
}

interface ConnectionList {
  readonly offset: number;
  readonly total: number;
  readonly connections?: readonly ToldConnection[] | null;
}

interface ConnectionPage {
  readonly server: { readonly id: string };
  readonly data?: ConnectionList;
}

interface KickAnswer {
  readonly error?: { readonly description?: string };
}

/** A page then is a tenth of what a message may hold. */
const PAGE_CONNECTIONS = 256;

const PAGE = objectOf<ConnectionPage>({
  server: objectOf<ConnectionPage['server']>({ id: text() }),
  data: optional(
    objectOf<ConnectionList>({
      offset: count,
      total: count,
      connections: optional(
        orNull(listOf(objectOf<ToldConnection>({ cid: count, authorized_user: optional(anyText) }), PAGE_CONNECTIONS)),
      ),
    }),
  ),
});
const KICK_ANSWER = objectOf<KickAnswer>({
  error: optional(objectOf<NonNullable<KickAnswer['error']>>({ description: optional(anyText) })),
});
/** Of one server: more than a quarter of a million agents. */
const PAGES_MAX = 1_024;
const ANSWER_MS = 2_000;
/** Servers of a cluster answer one after the other; after this silence no other is waited for. */
const LAST_ANSWER_MS = 250;

/** Sees who is connected, and ends connections, with the rights of the role `system`: over a user of the system account. */
export class AgentConnections {
  readonly #connection: NatsConnection;
  readonly #account: string;

  /** @param account the one that agents are put into */
  constructor(connection: NatsConnection, account: string) {
    this.#connection = connection;
    this.#account = account;
  }

  /** All connections of the account, page by page. @throws when the broker does not answer */
  async *pages(): AsyncIterable<readonly AgentConnection[]> {
    const firsts = await this.#connection.requestMany('$SYS.REQ.SERVER.PING.CONNZ', this.#question(0), {
      strategy: 'stall',
      stall: LAST_ANSWER_MS,
      maxWait: ANSWER_MS,
    });
    let isAnswered = false;
    for await (const first of firsts) {
      isAnswered = true;
      yield* this.#pagesOf(first);
    }
    if (!isAnswered) throw new Error('no server of the broker told who is connected');
  }

  /** Ends the connection; one that has ended already is the same success. @throws when it may still be there */
  async end({ connectionId, serverId }: AgentConnection): Promise<void> {
    const body = JSON.stringify({ cid: connectionId });
    const answer = await this.#connection.request(`$SYS.REQ.SERVER.${serverId}.KICK`, body, { timeout: ANSWER_MS });
    const { error } = answerOf<KickAnswer>(KICK_ANSWER, answer);
    if (error !== undefined && !/no such client/i.test(error.description ?? '')) {
      throw new Error(`the broker did not end a connection: ${error.description ?? ''}`);
    }
  }

  async *#pagesOf(first: Msg): AsyncIterable<readonly AgentConnection[]> {
    let message = first;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const { data, server } = answerOf<ConnectionPage>(PAGE, message);
      if (data === undefined) throw new Error('a server did not tell who is connected');
      yield (data.connections ?? []).map(({ authorized_user: user, cid }) => ({
        serverId: server.id,
        connectionId: cid,
        user: (user ?? '') as HostId,
      }));
      const next = data.offset + PAGE_CONNECTIONS;
      if (next >= data.total) return;
      const subject = `$SYS.REQ.SERVER.${server.id}.CONNZ`;
      message = await this.#connection.request(subject, this.#question(next), { timeout: ANSWER_MS });
    }
  }

  #question(offset: number): string {
    return JSON.stringify({ auth: true, acc: this.#account, limit: PAGE_CONNECTIONS, offset });
  }
}

function answerOf<Answer>(shape: Shape, { data }: Msg): Answer {
  const json = readJson(data);
  const reading = json.kind === 'unreadable' ? json : readShape<Answer>(shape, json.value);
  if (reading.kind === 'unreadable') throw new Error(`a server's answer cannot be read: ${reading.reason}`);
  return reading.value;
}
