/** A reason not to start that the operator can mend. Its message is all there is to say; no stack is shown. */
export class StartupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
  }
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The environment variable that sets the port. */
  readonly variable: string;
}

const TAKEN = /^Port \d+ on \S+ is already in use\./;

/** Whether a message of ours says that somebody else has a port: perhaps for this moment only. */
export const isPortTaken = (message: string): boolean => TAKEN.test(message);

/** Says which port could not be had and which variable moves it; other errors stay as they are. */
export function listenError(error: unknown, { host, port, variable }: ListenAddress): Error {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new StartupError(`Port ${port} on ${host} is already in use. Set ${variable} to a free one.`, {
      cause: error,
    });
  }
  if (code === 'EACCES') {
    return new StartupError(`This user may not listen on port ${port}. Set ${variable} to another one.`, {
      cause: error,
    });
  }
  if (code === 'EADDRNOTAVAIL') {
    return new StartupError(`${host} is not an address of this machine. Set BERTH_HTTP_HOST.`, { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}
