/** What the other side of a tunnel said is against its rules, so that nothing more of it is believed. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}
