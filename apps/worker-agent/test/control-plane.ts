import {
  JOB_VERBS,
  hostSubject,
  jobSubject,
  withdrawSubject,
  type DesiredWorker,
  type HostVolume,
  type JobVerb,
  type ReportRequest,
  type WireRequest,
  type WithdrawMessage,
  type WantedImage,
} from '@berth/contracts';
import type { EndpointId, HostId, ObservedWorker, WorkerId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import type { NatsConnection } from '@nats-io/transport-node';
import { FakeRouter } from './bridge/fake-router.js';

/** What an agent finds on the other side of the broker: a control plane that wants what the test says, and a router. */
export class TestControlPlane {
  router = new FakeRouter(systemClock);
  readonly reports: ReportRequest[] = [];
  desired: readonly DesiredWorker[] = [];
  deletedVolumes: readonly HostVolume[] = [];
  imagesAhead: readonly WantedImage[] = [];
  deletedEndpointIds: readonly EndpointId[] = [];

  /** Nothing is wanted, nothing queued, and what an agent that died still waits for is forgotten. */
  reset(): void {
    this.router.close();
    this.router = new FakeRouter(systemClock);
    this.reports.length = 0;
    this.desired = [];
    this.deletedVolumes = [];
    this.imagesAhead = [];
    this.deletedEndpointIds = [];
  }

  /** Answers on the connection until that is closed. */
  serve(connection: NatsConnection): void {
    connection.subscribe(hostSubject('*', 'join'), {
      callback: (_, message) => {
        const hostId = message.subject.split('.')[1] as HostId;
        message.respond(reply({ hostId, dataCenterId: 'LOCAL-1' }));
      },
    });
    connection.subscribe(hostSubject('*', 'report'), {
      callback: (_, message) => {
        const { body } = message.json<WireRequest<ReportRequest>>();
        this.reports.push(body);
        const deletedEndpointIds = (body.spooledEndpointIds ?? []).filter((id) => this.deletedEndpointIds.includes(id));
        const { deletedVolumes, desired, imagesAhead } = this;
        message.respond(reply({ desired, deletedVolumes, imagesAhead, dataCenterId: 'LOCAL-1', deletedEndpointIds }));
      },
    });
    connection.subscribe(withdrawSubject('*'), {
      callback: (_, message) => this.router.withdraw(message.json<WireRequest<WithdrawMessage>>().body),
    });
    for (const verb of JOB_VERBS) {
      connection.subscribe(jobSubject('*', verb), {
        callback: (_, message) => {
          const { body } = message.json<WireRequest<never>>();
          this.#answer(verb, body, (result) => void message.respond(reply(result))).catch(() => undefined);
        },
      });
    }
  }

  async #answer(verb: JobVerb, body: never, tell: (result: unknown) => void): Promise<void> {
    if (verb !== 'take' && verb !== 'done') {
      tell(await this.router.ask(verb, body, { timeoutMs: ANSWER_WITHIN_MS }));
      return;
    }
    const onPart = (part: unknown): boolean => {
      tell(part);
      return false;
    };
    await this.router.askParts(verb, body, { timeoutMs: ANSWER_WITHIN_MS, onPart, onLate: () => undefined });
  }

  /** As the agent that is alive reported it last. */
  observed(workerId: WorkerId): ObservedWorker | null {
    return this.reports.at(-1)?.workers.find((each) => each.workerId === workerId) ?? null;
  }
}

const ANSWER_WITHIN_MS = 30_000;

const reply = (result: unknown): string => JSON.stringify({ v: 1, result });
