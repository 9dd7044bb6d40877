import { logAnswerSubject, logsSubject, readLogsReply, type LogsReply, type LogsRequest } from '@berth/contracts';
import { PlatformError, type HostId } from '@berth/domain';
import { AgentQuestions } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';

export interface AgentLogsOptions {
  /** Over which agents are heard. */
  readonly connection: NatsConnection;
  /** Names this process among those that ask. */
  readonly asker: string;
  /** False where the broker does not keep hosts apart: then nobody's word can be believed. */
  readonly mayHear: Promise<boolean>;
}

/** Beyond the time that the agent holds a question. */
const ANSWER_MS = 5_000;

/** Asks the agents of hosts what their workers printed. */
export class AgentLogs {
  readonly #options: AgentLogsOptions;
  readonly #questions: AgentQuestions;

  constructor(options: AgentLogsOptions) {
    this.#options = options;
    const { asker, connection } = options;
    this.#questions = new AgentQuestions({ connection, answers: logAnswerSubject('*', asker) });
  }

  /**
   * @throws PlatformError what the agent refuses with, or `service-unavailable`
   * @throws TransportError there was no answer
   */
  async ask(hostId: HostId, body: LogsRequest, signal: AbortSignal): Promise<LogsReply> {
    const { asker, mayHear } = this.#options;
    if (!(await mayHear)) throw new PlatformError('service-unavailable', 'Agents are not heard.');
    const reply = readLogsReply(
      await this.#questions.ask({
        subject: logsSubject(hostId),
        answersAt: logAnswerSubject(hostId, asker),
        body,
        timeoutMs: body.waitMs + ANSWER_MS,
        signal,
      }),
    );
    if (reply.kind === 'value') return reply.value;
    throw new PlatformError('service-unavailable', 'The answer of the host cannot be read.');
  }

  close(): void {
    this.#questions.close();
  }
}
