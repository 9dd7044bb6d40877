let added: (() => void)[] = [];

/**
 * Runs what was added during one turn of the event loop together at its end, in order; of the whole process, so that what
 * its rooms write to one socket at once leaves in one call of the system.
 *
 * @param action must not throw
 */
export function atEndOfTurn(action: () => void): void {
  if (added.length === 0) setImmediate(runAdded);
  added.push(action);
}

function runAdded(): void {
  const actions = added;
  added = [];
  for (const action of actions) action();
}
