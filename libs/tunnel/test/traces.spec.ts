import { once } from 'node:events';
import { Duplex, duplexPair } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { MetricRegistry, RecordedTraces, silentLogger, type Span } from '@berth/telemetry';
import { ManualClock, SeededRandom, eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { HostTunnel } from '../src/host-tunnel.js';
import { TunnelListener, type LinkStream } from '../src/index.js';
import { FrameReader } from '../src/mux/frame-reader.js';
import { encodeHead, FRAME, type ControlFrame } from '../src/mux/frame.js';
import { ServedTunnel } from '../src/served-tunnel.js';
import { TUNNEL_TLS } from '../src/tunnel-protocol.js';

const SOON = { deadlineMs: 90_000, intervalMs: 5 };
const NEVER = new AbortController().signal;
const TARGET = { hostId: 'host1' as HostId, endpointId: 'endpoint1' as EndpointId, workerId: 'worker1' as WorkerId };
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const admitted = async (opening: ReturnType<HostTunnel['open']>): Promise<LinkStream> => {
  const answer = await opening;
  if (answer.kind === 'refused') throw new Error(answer.reason);
  return answer.stream;
};

/** A router's end and a host's, which records. */
function tunnels() {
  const [near, far] = duplexPair();
  const clock = new ManualClock();
  const spans: Span[] = [];
  const sink = (span: Span): void => void spans.push(span);
  const traces = new RecordedTraces({ clock, random: new SeededRandom(1), permille: 1_000, sink });
  const worker = (): Duplex => new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const link = { open: () => Promise.resolve({ kind: 'admitted' as const, stream: worker() }) };
  const router = new HostTunnel({ socket: near, clock, knowsTraces: true, onClosed: () => undefined });
  const served = new ServedTunnel({
    ...{ hostId: TARGET.hostId, link, clock, socket: far, traces },
    onClosed: () => undefined,
  });
  return { clock, router, served, spans };
}

describe('a host that is told of the trace of a request', () => {
  test('has a step in it from then on until the request is over, and none in others', async () => {
    const { clock, router, served, spans } = tunnels();
    const [told, other] = [await admitted(router.open(TARGET, NEVER)), await admitted(router.open(TARGET, NEVER))];
    told.tellTrace?.(TRACEPARENT);
    // It is heard, since what was said behind it is answered.
    await admitted(router.open(TARGET, NEVER));
    await clock.advance(2_000);
    expect(spans).toEqual([]);
    for (const stream of [other, told]) stream.destroy();
    await eventually(() => expect(spans).toHaveLength(1), SOON);
    const [span] = spans;
    expect(span).toMatchObject({ name: 'carry request', parentSpanId: '00f067aa0ba902b7' });
    expect((span?.endMs ?? 0) - (span?.startMs ?? 0)).toBe(2_000);
    expect(span?.attributes).toEqual({
      ...{ 'berth.endpoint.id': 'endpoint1', 'berth.host.id': 'host1', 'berth.worker.id': 'worker1' },
    });
    served.cut('the test is over');
  });

  test('begins one step for each request, whatever it is told', async () => {
    const { router, served, spans } = tunnels();
    const stream = await admitted(router.open(TARGET, NEVER));
    for (const traceparent of ['x'.repeat(55), TRACEPARENT, TRACEPARENT]) stream.tellTrace?.(traceparent);
    const next = await admitted(router.open(TARGET, NEVER));
    next.tellTrace?.(TRACEPARENT);
    next.tellTrace?.(TRACEPARENT);
    await admitted(router.open(TARGET, NEVER));
    for (const each of [stream, next]) each.destroy();
    await eventually(() => expect(spans).toHaveLength(1), SOON);
    served.cut('the test is over');
    expect(spans).toHaveLength(1);
  });
});

/** A host of the version before, as a router sees it: it admits whatever it is asked for, and knows no traces. */
function olderHost(socket: TLSSocket): { readonly heard: (ControlFrame | 'data')[] } {
  const heard: (ControlFrame | 'data')[] = [];
  const reader = new FrameReader({
    data: () => heard.push('data'),
    control: (frame) => {
      heard.push(frame);
      if (frame.kind === 'open') socket.write(encodeHead(FRAME.admit, frame.id));
    },
  });
  socket.on('data', (chunk: Buffer) => reader.read(chunk));
  return { heard };
}

test('a host of the version before is told nothing that it does not know', async () => {
  const clock = new ManualClock();
  const metrics = new MetricRegistry();
  const listener = new TunnelListener({ clock, metrics, logger: silentLogger, onChange: () => undefined });
  const port = await listener.listen('127.0.0.1', 0);
  const [identity, psk] = ['ticket', Buffer.alloc(32, 7)];
  listener.invite(TARGET.hostId, { ticket: identity, key: psk });
  const socket = connect({
    ...{ ...TUNNEL_TLS, port, host: '127.0.0.1', ALPNProtocols: ['berth-tunnel/2'] },
    pskCallback: () => ({ psk, identity }),
    checkServerIdentity: () => undefined,
  });
  const { heard } = olderHost(socket);
  try {
    await once(socket, 'secureConnect');
    await eventually(() => expect(listener.hasTunnel(TARGET.hostId)).toBe(true), SOON);
    const stream = await admitted(listener.open(TARGET, NEVER));
    stream.on('error', () => undefined);
    stream.tellTrace?.(TRACEPARENT);
    stream.write('x');
    await eventually(() => expect(heard).toContain('data'), SOON);
    expect(heard.map((each) => (each === 'data' ? each : each.kind))).toEqual(['open', 'data']);
  } finally {
    socket.destroy();
    await listener.close();
  }
});
