import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@berth/telemetry';
import type { Admission } from '../auth/admission.js';
import type { Connections } from '../connections/connections.js';
import type { Dispatch, DispatchedConnection } from './dispatch.js';

export interface DispatchedRequestsOptions {
  readonly connections: Connections;
  readonly logger: Logger;
  /** Absent: nothing is handed on. */
  readonly dispatch?: Dispatch;
}

const SERVER_ERROR = 500;

/** The requests and upgraded connections that the edge has given away: counted, and cut where they take too long to end. */
export class DispatchedRequests {
  readonly #options: DispatchedRequestsOptions;
  /** What is under way on each connection, oldest first; one that is upgraded is under way itself until it closes. */
  readonly #underWay = new Map<Socket, Set<ServerResponse | Socket>>();
  /** Those of which it could not be told whether their upgrade is taken. */
  readonly #undecided = new WeakSet<IncomingMessage>();
  #admission: Admission | undefined;

  constructor(options: DispatchedRequestsOptions) {
    this.#options = options;
  }

  /** To be said before anything comes: who lets callers in. */
  admitBy(admission: Admission): void {
    this.#admission = admission;
  }

  /** Gives the request to whoever takes it. False: the edge itself shall answer it. */
  handOn(request: IncomingMessage, response: ServerResponse): boolean {
    const isDecided = !this.#undecided.has(request);
    const isTaken = isDecided ? this.#asked(() => this.#options.dispatch?.takes(request) === true) : null;
    if (isTaken === true) this.#hand(request, response);
    // The dispatch failed to say whose the request is, so the edge must not act on it either.
    if (isTaken === null) response.writeHead(SERVER_ERROR, { connection: 'close', 'content-length': 0 }).end();
    return isTaken !== false;
  }

  takesUpgrade(request: IncomingMessage): boolean {
    const isTaken = this.#asked(() => this.#options.dispatch?.takesUpgrade(request) === true);
    if (isTaken === null) this.#undecided.add(request);
    return isTaken === true;
  }

  /**
   * Whether a word of the edge on it cannot fall into somebody else's answer, where what came on it could not be read: there
   * is none, or the only one has not begun and is of the very request whose body broke.
   */
  mayInterrupt(socket: Socket): boolean {
    const underWay = this.#underWay.get(socket);
    if (underWay === undefined) return true;
    const [only] = underWay;
    return underWay.size === 1 && only instanceof ServerResponse && !only.headersSent && !only.req.complete;
  }

  /** Node looks after the socket no longer, and its server does not know it. */
  watchUpgrades(server: Server): void {
    server.on('upgrade', (request, _duplex, head) => {
      const { socket } = request;
      socket.on('error', (error) => {
        this.#options.logger.debug('an upgraded connection broke', { error });
      });
      this.#begin(request, socket, (connection) => {
        this.#options.dispatch?.upgrade(request, socket, { ...connection, head });
      });
    });
  }

  /** Ends every request that is still under way. */
  cut(): void {
    for (const socket of this.#underWay.keys()) socket.destroy();
  }

  #hand(request: IncomingMessage, response: ServerResponse): void {
    this.#begin(request, response, (connection) => {
      this.#options.dispatch?.request(request, response, connection);
    });
  }

  #begin(
    request: IncomingMessage,
    until: ServerResponse | Socket,
    hand: (connection: DispatchedConnection) => void,
  ): void {
    const { connections } = this.#options;
    const { socket } = request;
    if (!this.#underWay.has(socket)) socket.once('close', () => this.#underWay.delete(socket));
    const underWay = (this.#underWay.get(socket) ?? new Set()).add(until);
    this.#underWay.set(socket, underWay);
    connections.countHandedOn(socket, until, () => {
      try {
        hand(this.#connectionOf(request));
      } catch (error) {
        // What has been said of an answer is unknown, so none can be given.
        this.#options.logger.error('a request was taken and then failed; its connection is cut', { error });
        socket.destroy();
      }
    });
    until.once('close', () => {
      this.#end(socket, until);
    });
  }

  /** @throws Error where it was not said who lets callers in */
  #connectionOf(request: IncomingMessage): DispatchedConnection {
    const admission = this.#admission;
    if (admission === undefined) throw new Error('nobody lets callers in yet');
    return {
      peer: admission.peerOf(request),
      admit: () => admission.admitHandedOn(request),
      meet: (accountId) => admission.meetHandedOn(request, accountId),
    };
  }

  /** Null: nobody knows, because the question failed. */
  #asked(question: () => boolean): boolean | null {
    try {
      return question();
    } catch (error) {
      this.#options.logger.error('it could not be told whether a request is taken; it is answered with 500', { error });
      return null;
    }
  }

  #end(socket: Socket, ended: ServerResponse | Socket): void {
    const underWay = this.#underWay.get(socket);
    underWay?.delete(ended);
    if (underWay?.size === 0) this.#underWay.delete(socket);
  }
}
