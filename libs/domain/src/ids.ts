declare const brand: unique symbol;

/** A string that only the named kind of id can stand in for. */
type Id<Kind extends string> = string & { readonly [brand]: Kind };

export type AccountId = Id<'account'>;
export type ClusterId = Id<'cluster'>;
export type EndpointId = Id<'endpoint'>;
export type HostId = Id<'host'>;
export type JobId = Id<'job'>;
export type PodId = Id<'pod'>;
export type WorkerId = Id<'worker'>;

/** A job's full address: job ids are looked up within their endpoint, so a foreign id is simply not found. */
export interface JobKey {
  readonly endpointId: EndpointId;
  readonly jobId: JobId;
}
