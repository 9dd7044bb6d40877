/** `job/attempt`: names a ticket, a lease, an attempt's chunks. */
export const attemptName = ({ jobId, attempt }: { readonly jobId: string; readonly attempt: number }): string =>
  `${jobId}/${attempt}`;
