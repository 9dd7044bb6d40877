import type { JobId } from '@berth/domain';

/** What the simulated clients and workers saw, in order. Instants are virtual ms. */
export type Observation =
  /** The client heard 200: from here on the job is promised. */
  | { readonly kind: 'accepted'; readonly jobId: JobId; readonly atMs: number }
  | { readonly kind: 'cancelled'; readonly jobId: JobId; readonly atMs: number }
  | {
      readonly kind: 'seen';
      readonly jobId: JobId;
      readonly askedAtMs: number;
      readonly atMs: number;
      readonly isFound: boolean;
    }
  /** A client asks for another attempt; whether it gets one, the records tell. */
  | { readonly kind: 'retry-asked'; readonly jobId: JobId; readonly atMs: number }
  /** The answer of a purge: how many jobs it says it removed; null where the client heard nothing. */
  | { readonly kind: 'purged'; readonly removed: number | null; readonly atMs: number }
  | { readonly kind: 'started'; readonly jobId: JobId; readonly attempt: number; readonly atMs: number }
  /** The execution is over, with a result or without. */
  | { readonly kind: 'stopped'; readonly jobId: JobId; readonly attempt: number; readonly atMs: number }
  /** The worker of an attempt that it was told to stop has it no longer; whoever asks shall hear so. */
  | { readonly kind: 'let-go'; readonly jobId: JobId; readonly attempt: number; readonly atMs: number }
  /** Its host stood still past the lease: whatever it still runs overlaps through no fault of the protocol. */
  | { readonly kind: 'frozen'; readonly jobId: JobId; readonly attempt: number; readonly atMs: number }
  /** A waiting ticket was removed while its job still waited for that very attempt. */
  | { readonly kind: 'ticket-dropped-early'; readonly jobId: JobId; readonly attempt: number; readonly atMs: number };

/** What was seen of one job. */
export type JobObservation = Extract<Observation, { readonly jobId: JobId }>;
