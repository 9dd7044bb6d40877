import type {
  BeginTryCommand,
  DeliveryKey,
  DueDelivery,
  EndTryCommand,
  EndpointId,
  JobBody,
  JobSight,
} from '@berth/domain';

/** The end of a job that somebody is to be told of. */
export interface EndToTell {
  /** The job as it had ended. */
  readonly job: JobSight;
  readonly url: string;
  readonly body: JobBody;
}

/** The webhook deliveries of the endpoints that this router owns. */
export interface OwnedDeliveries {
  /** The longest due first; none where the endpoint is not this router's any more. */
  due(endpointId: EndpointId, limit: number): Promise<readonly DueDelivery[]>;
  /** Null: the delivery is over, or not this router's any more. @throws PlatformError `service-unavailable` */
  read(key: DeliveryKey): Promise<EndToTell | null>;
  /** Until when the try is this router's, Unix ms; null: it did not begin, as far as anybody here knows. */
  begin(endpointId: EndpointId, command: BeginTryCommand): Promise<number | null>;
  /** To the owner that the endpoint has by then. @throws PlatformError `service-unavailable` */
  end(endpointId: EndpointId, command: EndTryCommand): Promise<void>;
}
