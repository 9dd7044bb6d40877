/** What the API answered instead of what it was asked for. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  /** Of HTTP. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const isAnswered = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof ClusterError && statuses.includes(error.status);
