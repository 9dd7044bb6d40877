import type { OwnerVerb } from './owner-questions.js';

/** Router → the owner of the shard. The endpoint stands in the body. */
export const ownerSubject = (shard: number, verb: OwnerVerb): string => `shard.${shard}.${verb}`;
/** Every question to the owner of a shard. */
export const ownerSubjects = (shard: number): string => `shard.${shard}.*`;

/** Owner → router: something happened to jobs that it watches (`NoticeMessage`). */
export const noticeSubject = (incarnation: string): string => `notice.${incarnation}`;

/** Heard by the router's process, which answers with an empty message: where nobody hears it the process is gone. */
export const routerSubject = (incarnation: string): string => `router.${incarnation}`;
