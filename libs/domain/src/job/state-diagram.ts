/** A transition table as the lines of a Mermaid state diagram, for the generated documents. */
export function stateDiagram(transitions: Readonly<Record<string, readonly string[]>>): string {
  const lines = Object.entries(transitions).flatMap(([from, targets]) =>
    targets.length === 0 ? [`  ${from} --> [*]`] : targets.map((to) => `  ${from} --> ${to}`),
  );
  return ['stateDiagram-v2', ...lines].join('\n');
}
