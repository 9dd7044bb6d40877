/** Tells the parent where this process listens; once the parent lets go of it, closes what is open and ends. */
export function runReference(address: string, close: () => Promise<unknown>): void {
  process.send?.({ address });
  process.on('disconnect', () => {
    void close().then(() => process.exit(0));
  });
}
