import { Writable } from 'node:stream';

interface SaidStreams {
  readonly streams: { readonly stdout: Writable; readonly stderr: Writable };
  /** What was written so far. */
  readonly said: { readonly stdout: string; readonly stderr: string };
}

/** Streams of a program whose output a test reads. */
export function saidStreams(): SaidStreams {
  const said = { stdout: '', stderr: '' };
  const streamOf = (name: 'stdout' | 'stderr') =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        said[name] += chunk.toString();
        done();
      },
    });
  const streams = { stdout: streamOf('stdout'), stderr: streamOf('stderr') };
  return { said, streams };
}
