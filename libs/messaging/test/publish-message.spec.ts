import { PlatformError } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import {
  ClosedConnectionError,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  type MsgHdrs,
} from '@nats-io/transport-node';
import type { Broker } from '../src/broker/broker.js';
import { BrokerApiError } from '../src/broker/broker-errors.js';
import { publishMessage } from '../src/broker/publish-message.js';

/** A broker that gives one answer, or none. */
function answering(answer: object | Error): { broker: Broker; sent: { headers: MsgHdrs }[] } {
  const sent: { headers: MsgHdrs }[] = [];
  const request = async (_subject: string, _body: unknown, headers: MsgHdrs): Promise<unknown> => {
    sent.push({ headers });
    if (answer instanceof Error) throw answer;
    return { data: new TextEncoder().encode(JSON.stringify(answer)) };
  };
  return { broker: { request } as unknown as Broker, sent };
}

const refusal = (err_code: number, description: string, code = 400): object => ({
  error: { code, err_code, description },
});
const publish = (answer: object | Error): ReturnType<typeof publishMessage> =>
  publishMessage(answering(answer).broker, { subject: 'job.1.e.j', body: 'x' });

describe('the outcome of a publish', () => {
  test.each([
    ['an acknowledgement', { stream: 'JOBS_1', seq: 7 }, { kind: 'stored', sequence: 7 }],
    ['another version', refusal(10071, 'wrong last sequence: 3'), { kind: 'conflict' }],
    ['a write of another that is not finished yet', refusal(10164, 'wrong last sequence'), { kind: 'conflict' }],
    ['a subject that is taken', refusal(10077, 'maximum messages per subject exceeded', 503), { kind: 'occupied' }],
  ])('%s', async (_what, answer, outcome) => {
    expect(await publish(answer)).toEqual(outcome);
  });

  test.each([
    ['silence', new TimeoutError()],
    ['nobody listening', new RequestError('no responders', { cause: new NoRespondersError('x') })],
    ['a lost connection', new RequestError('connection disconnected')],
    ['a closed connection', new ClosedConnectionError()],
  ])('%s is unknown, never a conflict', async (_what, error) => {
    expect(await publish(error)).toEqual({ kind: 'unknown', cause: error });
  });

  test.each([
    ['a full stream', refusal(10077, 'maximum bytes exceeded', 503), /full/],
    ['a broker whose storage is used up', refusal(10023, 'insufficient resources', 503), /used up its storage/],
    ['no leader', refusal(10008, 'JetStream system temporarily unavailable', 503), /does not answer/],
    ['too many writes on their way', refusal(10167, 'too many requests', 429), /does not answer/],
  ])('%s is told as an outage that passes', async (_what, answer, text) => {
    const failed = publish(answer);
    await expect(failed).rejects.toThrow(text);
    await expect(failed).rejects.toMatchObject({ code: 'service-unavailable', cause: expect.any(BrokerApiError) });
    await expect(failed).rejects.toBeInstanceOf(PlatformError);
  });

  test('what is our own fault is thrown as it is', async () => {
    await expect(publish(refusal(10166, 'per-message TTL is disabled'))).rejects.toBeInstanceOf(BrokerApiError);
    const forbidden = new PermissionViolationError('no', 'publish', 'job.1.e.j');
    await expect(publish(new RequestError('no', { cause: forbidden }))).rejects.toThrow('no');
  });

  test('what is expected and how long it lives goes into headers', async () => {
    const { broker, sent } = answering({ stream: 'S', seq: 1 });
    const headers = { 'Berth-State': 'IN_QUEUE' };
    await publishMessage(broker, { subject: 's', body: 'x', headers, ttlMs: 1_500, expectedSequence: 0 });
    await publishMessage(broker, { subject: 's', body: 'x', ttlMs: 1 });
    expect(sent.map((options) => Object.fromEntries(options.headers))).toEqual([
      { 'Berth-State': ['IN_QUEUE'], 'Nats-TTL': ['2s'], 'Nats-Expected-Last-Subject-Sequence': ['0'] },
      { 'Nats-TTL': ['1s'] },
    ]);
  });
});
