import { viewDueDeliveries, viewToldEnd, type DeliveryKey, type DueDelivery, type EndpointId } from '@berth/domain';
import type { BeginTryCommand, EndTryCommand, ToldEnd } from '@berth/domain';
import type { Owners } from '../owners/index.js';
import type { EndToTell, OwnedDeliveries } from '../webhooks/index.js';
import type { EndpointLogs } from './logs/endpoint-logs.js';
import type { LogPayloads } from './logs/log-payloads.js';
import { retryMoved } from './logs/retry-moved.js';

export interface LogDeliveriesOptions {
  readonly logs: EndpointLogs;
  readonly payloads: Pick<LogPayloads, 'body' | 'output'>;
  /** By the end of a try another router may own the endpoint. */
  readonly owners: Owners;
}

/** The webhook deliveries in the logs that this router owns. */
export class LogDeliveries implements OwnedDeliveries {
  readonly #options: LogDeliveriesOptions;

  constructor(options: LogDeliveriesOptions) {
    this.#options = options;
  }

  async due(endpointId: EndpointId, limit: number): Promise<readonly DueDelivery[]> {
    const said = await this.#options.logs.read(endpointId, (state, atMs) => viewDueDeliveries(state, atMs, limit));
    return said !== 'silent' && said.kind === 'answer' ? said.answer : [];
  }

  async read(key: DeliveryKey): Promise<EndToTell | null> {
    const { logs } = this.#options;
    const said = await retryMoved(
      () => logs.read(key.endpointId, (state, atMs) => viewToldEnd(state, key, atMs)),
      (told: ToldEnd | null) => this.#withPayloads(key.endpointId, told),
    );
    return said !== 'silent' && said.kind === 'answer' ? said.answer : null;
  }

  async begin(endpointId: EndpointId, command: BeginTryCommand): Promise<number | null> {
    const said = await this.#options.logs.perform(endpointId, command);
    if (said === 'silent' || said.kind === 'refused') return null;
    return said.answer.kind === 'begun' ? said.answer.untilMs : null;
  }

  async end(endpointId: EndpointId, command: EndTryCommand): Promise<void> {
    await this.#options.owners.ask(endpointId, 'perform', { command });
  }

  async #withPayloads(endpointId: EndpointId, told: ToldEnd | null): Promise<EndToTell | null | 'moved'> {
    if (told === null) return null;
    const { payloads } = this.#options;
    const [body, output] = await Promise.all([
      payloads.body(endpointId, told.body),
      payloads.output(endpointId, told.job.output),
    ]);
    if (body === 'moved' || output === 'moved') return 'moved';
    return { job: { ...told.job, output }, url: told.url, body };
  }
}
