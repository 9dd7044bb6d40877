import type { EndpointId } from '@berth/domain';
import type { AppendOutcome, LogBatch, LogBroker, LogEntry, LogHead } from '@berth/endpoint-log';
import { letRun } from '../clock/manual-clock.js';
import { ModelLogBroker } from './model-log-broker.js';

/** A broker whose appends arrive when the test lets them. */
export class HeldLogBroker implements LogBroker {
  readonly model = new ModelLogBroker();
  readonly sent: LogBatch[] = [];
  isHolding = false;
  readonly #held: (() => void)[] = [];
  #outcome: AppendOutcome | undefined;

  /** Lets the oldest append that is held arrive, or has it answered as the test says. */
  async release(outcome?: AppendOutcome): Promise<void> {
    this.#outcome = outcome;
    this.#held.shift()?.();
    await letRun();
  }

  async append(batch: LogBatch): Promise<AppendOutcome> {
    this.sent.push(batch);
    if (this.isHolding) await new Promise<void>((resolve) => this.#held.push(resolve));
    const outcome = this.#outcome;
    this.#outcome = undefined;
    return outcome ?? this.model.store(batch);
  }

  readNext(endpointId: EndpointId, after: number): Promise<LogEntry | null> {
    return this.model.readNext(endpointId, after);
  }

  read(endpointId: EndpointId, after: number): AsyncIterable<LogEntry> {
    return this.model.read(endpointId, after);
  }

  purge(endpointId: EndpointId, through: number): Promise<void> {
    return this.model.purge(endpointId, through);
  }

  heads(): AsyncIterable<LogHead> {
    return this.model.heads();
  }
}
