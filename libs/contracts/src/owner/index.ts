export { type NoticeMessage } from './notice-message.js';
export {
  WATCH_KEPT_MS,
  type AnswerOf,
  type AssignedJob,
  type DescribedJob,
  type ChunkLimitName,
  type FoundJob,
  type HoldAnswer,
  type JobWatcher,
  type ListedJob,
  type ListedQueue,
  type OwnerCommand,
  type OwnerReply,
  type OwnerVerb,
  type QuestionOf,
  type TakeAsker,
  type ToldDelivery,
} from './owner-questions.js';
export { OWNER_ANSWER_SHAPES } from './answer-shapes.js';
export { OWNER_QUESTION_SHAPES } from './question-shapes.js';
export { noticeSubject, ownerSubject, ownerSubjects, routerSubject } from './subjects.js';
