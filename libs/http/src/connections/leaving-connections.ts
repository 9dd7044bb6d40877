import { ServerResponse, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { atEndOfTurn } from '@berth/lifecycle';

/** The accepted connections of one turn of the event loop are few; a flood of them must not keep the process. */
const BACKLOG_TURNS_MAX = 1_024;
/** A turn may begin behind the place where connections are accepted, so one without any says nothing yet. */
const QUIET_TURNS = 2;

/** What is under way on a connection, oldest first, and whether its client lets the connection be kept behind it. */
type UnderWay = Map<ServerResponse | Socket, boolean>;

/** How the connections of a server end once its process leaves, so that no client loses a request by it. */
export class LeavingConnections {
  /** One that is upgraded is under way itself until it closes. */
  readonly #underWay = new Map<Socket, UnderWay>();
  #phase: 'staying' | 'leaving' | 'closing' = 'staying';
  #accepted = 0;

  /** To be called before anybody else listens to the server's upgrades. */
  watch(server: Server): void {
    server.on('connection', () => {
      this.#accepted += 1;
    });
    server.on('upgrade', ({ socket }) => {
      this.begin(socket, socket);
    });
  }

  /** A request has come on the connection, which is under way until this closes. */
  begin(socket: Socket, until: ServerResponse | Socket): void {
    if (!this.#underWay.has(socket)) socket.once('close', () => this.#underWay.delete(socket));
    const underWay: UnderWay = this.#underWay.get(socket) ?? new Map<ServerResponse | Socket, boolean>();
    this.#underWay.set(socket, underWay.set(until, until instanceof ServerResponse && until.shouldKeepAlive));
    if (this.#phase !== 'staying') sayLast(underWay);
    until.once('close', () => {
      this.#end(socket, until);
    });
  }

  /** From now on a connection ends with the last request on it, which its answer says where it can say it. */
  leave(): void {
    this.#phase = 'leaving';
    for (const underWay of this.#underWay.values()) sayLast(underWay);
  }

  /** From now on it ends with the last request also where no answer could say it. */
  close(): void {
    this.leave();
    this.#phase = 'closing';
  }

  /** Resolves once the connections are accepted that clients take for open: a listener that closes resets the others. */
  async backlogTaken(): Promise<void> {
    let [accepted, quiet] = [this.#accepted, 0];
    for (let turns = 0; quiet < QUIET_TURNS && turns < BACKLOG_TURNS_MAX; turns += 1) {
      await new Promise<void>(atEndOfTurn);
      quiet = accepted === this.#accepted ? quiet + 1 : 0;
      accepted = this.#accepted;
    }
  }

  #end(socket: Socket, ended: ServerResponse | Socket): void {
    const underWay = this.#underWay.get(socket);
    if (underWay === undefined) return;
    underWay.delete(ended);
    if (this.#phase !== 'staying') sayLast(underWay);
    if (underWay.size > 0) return;
    this.#underWay.delete(socket);
    if (this.#phase === 'closing') socket.end();
  }
}

/**
 * Its client sends no further request then, which would find the connection closed. Of several, another one is the last: also
 * where it has come only now, behind one that was the last until then and has said nothing yet.
 */
function sayLast(underWay: UnderWay): void {
  const isLast = underWay.size === 1;
  for (const [each, isKept] of underWay) if (each instanceof ServerResponse) each.shouldKeepAlive = isKept && !isLast;
}
