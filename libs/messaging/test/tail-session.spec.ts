import type { ConsumerInfo } from '@nats-io/jetstream';
import { MsgHdrsImpl, type Msg, type MsgCallback, type PublishOptions } from '@nats-io/transport-node';
import { ManualClock, letRun } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { TailSession, readPosition, type TailMessage } from '../src/broker/tail-session.js';

/** A broker that says only what the test tells it to: faults that a real one shows once in a month. */
class ScriptedBroker {
  readonly pulls: string[] = [];
  readonly configs: unknown[] = [];
  readonly deleted: string[] = [];
  info: Partial<ConsumerInfo> = { num_pending: 0 };
  #deliver: MsgCallback<Msg> = () => undefined;
  #sequence = 0;

  get broker(): Broker {
    const scripted = {
      newInbox: () => 'inbox',
      connection: {
        subscribe: (_subject: string, { callback }: { callback: MsgCallback<Msg> }) => {
          this.#deliver = callback;
          return { unsubscribe: () => undefined };
        },
        publish: (_subject: string, question: string, _options: PublishOptions) => this.pulls.push(question),
      },
      manager: {
        consumers: {
          add: async (_stream: string, config: unknown) => {
            this.configs.push(config);
            return this.info;
          },
          info: async () => ({ delivered: { consumer_seq: this.#sequence, stream_seq: 0 }, ...this.info }),
          delete: async (_stream: string, name: string) => this.deleted.push(name),
        },
      },
    };
    return scripted as unknown as Broker;
  }

  send(sequence: number, delivered: number, pending: number): void {
    this.#sequence = delivered;
    const reply = `$JS.ACK.S.c.1.${sequence}.${delivered}.1700000000000000000.${pending}`;
    void this.#deliver(null, {
      subject: `s.${sequence}`,
      reply,
      data: new Uint8Array(),
      headers: undefined,
    } as unknown as Msg);
  }

  sendStatus(code: number, description: string): void {
    const headers = new MsgHdrsImpl(code, description);
    void this.#deliver(null, { subject: 'inbox', data: new Uint8Array(), headers } as unknown as Msg);
  }
}

function openSession(): {
  scripted: ScriptedBroker;
  clock: ManualClock;
  told: TailMessage[];
  caughtUp: () => number;
  session: TailSession;
} {
  const scripted = new ScriptedBroker();
  const clock = new ManualClock();
  const told: TailMessage[] = [];
  let caughtUp = 0;
  const session = new TailSession({
    broker: scripted.broker,
    clock,
    stream: 'S',
    isHeadersOnly: true,
    start: { sequence: 1 },
    onMessage: (message) => told.push(message),
    onCaughtUp: () => {
      caughtUp += 1;
    },
  });
  return { scripted, clock, told, caughtUp: () => caughtUp, session };
}

describe('a tail session', () => {
  test('tells messages in order and says once that it has caught up', async () => {
    const { scripted, told, caughtUp, session } = openSession();
    scripted.info = { num_pending: 2 };
    const over = session.run();
    await letRun();
    scripted.send(5, 1, 1);
    expect(caughtUp()).toBe(0);
    scripted.send(9, 2, 0);
    scripted.send(10, 3, 0);
    expect(told.map(({ sequence }) => sequence)).toEqual([5, 9, 10]);
    expect(caughtUp()).toBe(1);
    session.end('enough');
    expect(await over).toBe('enough');
    expect(scripted.deleted).toHaveLength(1);
  });

  test('has caught up at once where nothing is', async () => {
    const { caughtUp, session } = openSession();
    const over = session.run();
    await letRun();
    expect(caughtUp()).toBe(1);
    session.end('enough');
    await over;
  });

  test('ends at a gap, without telling what came after it', async () => {
    const { scripted, told, session } = openSession();
    const over = session.run();
    await letRun();
    scripted.send(1, 1, 5);
    scripted.send(3, 3, 3);
    scripted.send(4, 4, 2);
    expect(await over).toMatch(/^gap/);
    expect(told).toHaveLength(1);
  });

  test('ends when its observer fails, and keeps that from the client', async () => {
    const { scripted, told, session } = openSession();
    Object.defineProperty(told, 'push', {
      value: () => {
        throw new Error('observer is broken');
      },
    });
    const over = session.run();
    await letRun();
    scripted.send(1, 1, 0);
    expect(await over).toBe('observer: observer is broken');
  });

  test('asks again when a pull has run out, and when its messages have come', async () => {
    const { scripted, session } = openSession();
    const over = session.run();
    await letRun();
    expect(scripted.pulls).toHaveLength(1);
    scripted.sendStatus(408, 'Request Timeout');
    expect(scripted.pulls).toHaveLength(2);
    const { batch } = JSON.parse(scripted.pulls[1]!) as { batch: number };
    for (let at = 1; at <= batch; at += 1) scripted.send(at, at, 1_000);
    expect(scripted.pulls).toHaveLength(3);
    session.end('enough');
    await over;
  });

  test.each([
    [409, 'Consumer Deleted'],
    [409, 'Leadership Change'],
    [503, 'No Responders'],
  ])('ends when the broker says %d %s', async (code, description) => {
    const { scripted, session } = openSession();
    const over = session.run();
    await letRun();
    scripted.sendStatus(code, description);
    expect(await over).toContain(description);
  });

  test('heartbeats keep it, silence ends it', async () => {
    const { scripted, clock, session } = openSession();
    let reason: string | undefined;
    void session.run().then((ended) => {
      reason = ended;
    });
    await letRun();
    for (let beat = 0; beat < 10; beat += 1) {
      await clock.advance(5_000);
      scripted.sendStatus(100, 'Idle Heartbeat');
    }
    expect(reason).toBeUndefined();
    await clock.advance(14_000);
    expect(reason).toMatch(/^silent/);
  });

  test('a consumer that lives and sends nothing of what it has is given up', async () => {
    const { scripted, clock, session } = openSession();
    let reason: string | undefined;
    void session.run().then((ended) => {
      reason = ended;
    });
    await letRun();
    scripted.info = { num_pending: 7 };
    for (let second = 0; second < 25 && reason === undefined; second += 1) {
      await clock.advance(1_000);
      scripted.sendStatus(100, 'Idle Heartbeat');
    }
    expect(reason).toMatch(/^stalled: 7/);
    expect(clock.waiting).toBe(0);
  });

  test('a consumer that makes progress is not', async () => {
    const { scripted, clock, session } = openSession();
    let reason: string | undefined;
    const over = session.run().then((ended) => {
      reason = ended;
    });
    await letRun();
    scripted.info = { num_pending: 7 };
    for (let second = 1; second < 60; second += 1) {
      await clock.advance(1_000);
      scripted.send(second, second, 7);
    }
    expect(reason).toBeUndefined();
    session.end('enough');
    await over;
  });
});

describe('the place of a message', () => {
  test.each([
    ['$JS.ACK.EV.c1.1.42.7.1700000000000000000.3', { sequence: 42, delivered: 7, pending: 3 }],
    ['$JS.ACK._.abcd.EV.c1.1.42.7.1700000000000000000.3', { sequence: 42, delivered: 7, pending: 3 }],
    ['$JS.ACK.hub.abcd.EV.c1.1.42.7.1700000000000000000.3.x', { sequence: 42, delivered: 7, pending: 3 }],
    ['_INBOX.x', null],
  ])('%s', (reply, position) => {
    expect(readPosition(reply)).toEqual(position);
  });
});
