import { ChoiceField } from '../../fields/text-field.js';

const WORKER_ACTIONS = ['restart'] as const;

export class WorkerActionDto {
  @ChoiceField(WORKER_ACTIONS, {
    description:
      '`restart`: its container is replaced by a new one, and its failed starts are forgotten, with those of its release.',
  })
  readonly action!: (typeof WORKER_ACTIONS)[number];
}
