import type { EndpointCommand } from '@berth/domain';
import type { LogBroker, OpenLog, SettledAnswer } from '@berth/endpoint-log';
import type { Answer, Question } from './told-answers.js';

/** What a fault in the rooms would do, put in on purpose from outside: each of them must be found. */
export interface Doctor {
  readonly comparesNothing?: boolean;
  /** Owners decide whether they are sure or not. */
  readonly isCareless?: boolean;
  readonly broker?: (broker: LogBroker) => LogBroker;
  readonly command?: (command: EndpointCommand) => EndpointCommand;
  /** True where it has asked in its own way. */
  readonly ask?: (log: OpenLog, question: Question, told: (outcome: SettledAnswer<Answer>) => void) => boolean;
  readonly opened?: (log: OpenLog) => void;
  readonly purgeThrough?: (covers: number, last: number) => number;
}
