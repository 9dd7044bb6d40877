import type { EndpointType, WorkerPorts } from '../../endpoint/index.js';
import type { WorkerHealth } from '../balanced/index.js';
import type { WorkerJournal } from './worker-journal.js';
import type { WorkerIntent } from '../worker.js';

/** What the control plane wants of one worker on this host. A release never changes: a new one is a new worker. */
export interface WantedWorker {
  readonly intent: WorkerIntent;
  readonly endpointType: EndpointType;
  /** Grows with every restart that was asked for: it replaces the container and clears the failure count. */
  readonly generation: number;
  /** Where it shall listen; absent: it listens for nothing, or that is not known. */
  readonly ports?: WorkerPorts;
  /** How long the container may take until it is ready. */
  readonly initTimeoutMs: number;
  /** How long the requests of a load-balanced worker that leaves may go on before SIGTERM; absent: not at all. */
  readonly requestGraceMs?: number;
  /** How long it has after SIGTERM where no running job gives it longer. */
  readonly stopGraceMs: number;
  /**
   * Of a worker that is to leave for want of jobs: no sooner than this long after the end of its last one, by its
   * agent's own clock. Absent: at once.
   */
  readonly leavesAfterIdleMs?: number;
  /** What its release's image stands for, once one host has found out; absent: whatever its name stands for. */
  readonly imageDigest?: string;
  /** The same of a worker that is to be paused. */
  readonly pausesAfterIdleMs?: number;
  /** Why no container can be started for it at present, for people; what runs goes on. Absent: one can. */
  readonly unstartable?: string;
}

/** The container as the runtime shows it. One that was created and never ran is `absent`: a start replaces it. */
export type ContainerState =
  | {
      readonly kind: 'absent';
      /** One that was created and never ran is there, and holds what it was promised. */
      readonly leftoverId?: string;
    }
  | {
      readonly kind: 'running';
      readonly containerId: string;
      readonly startedAtMs: number;
      /** Of its image; absent where that is not known. */
      readonly imageDigest?: string;
      /** True while it is frozen; absent: it runs. */
      readonly isPaused?: boolean;
      /** True once whoever rules over its host has asked it to end, with SIGTERM; absent: nobody has. */
      readonly isTakenAway?: boolean;
      /** What of its wish its host does not keep; absent when all is kept. */
      readonly notes?: readonly string[];
    }
  | {
      readonly kind: 'exited';
      readonly containerId: string;
      readonly exitCode: number | null;
      /** Such as `out of memory`; empty when the runtime knows no more than the code. */
      readonly reason: string;
      /** The end of what it wrote, on one line; empty or absent where that is not known. */
      readonly lastOutput?: string;
      /** It was taken from its host by whoever rules over that: its jobs must not pay for it. */
      readonly isEvicted?: boolean;
    };

/** Image and folder. A preparation that failed is `none` again, its failure in the journal. */
export type Preparation = 'none' | 'running' | 'done';

/** One container life as the worker bridge knows it. What was delivered is on disk and survives the agent. */
export interface ContainerSession {
  readonly containerId: string;
  /** Start of the container, or its adoption by a restarted agent. */
  readonly openedAtMs: number;
  /** True when an earlier life of the agent started it. */
  readonly isAdopted: boolean;
  /** False when it was started with another address of the bridge than the present one. */
  readonly knowsBridge: boolean;
  /** True once it has called the bridge in this session, whatever the call was. */
  readonly hasCalled: boolean;
  /**
   * Since when it has neither had a job nor a request for one open; null while it has. Its pings say nothing of that: they
   * may come from a process of their own. Absent where nobody can tell.
   */
  readonly notAskingSinceMs?: number | null;
  /** First sign of the SDK (or of a good health check) in this session; null until then. */
  readonly readyAtMs: number | null;
  /** What its health checks show; absent of a worker that has none, which is one with a queue. */
  readonly health?: SessionHealth;
  /** Delivered and not finished: jobs, or the requests of a load-balanced worker. */
  readonly runningJobs: number;
  readonly finishedJobs: number;
  /** When its last job ended in this session, however it ended; absent or null: it has had none. */
  readonly lastJobEndedAtMs?: number | null;
  /** Latest instant at which one of the running jobs must have ended; null without any. */
  readonly latestDeadlineAtMs: number | null;
  /** Why its container must be replaced, such as `stopPod` after a job; else null. */
  readonly recycleReason: string | null;
  /** Why the container must be killed at once, such as a cancelled job that does not let go; else null. */
  readonly killReason: string | null;
  /** When its parked polls were answered and new ones held, when it got SIGTERM, and when it was last killed. */
  readonly releasedAtMs: number | null;
  readonly stoppedAtMs: number | null;
  readonly killedAtMs: number | null;
  /** What was said of it then; absent: it has not been killed. Its health checks find nobody from then on. */
  readonly killedBecause?: string;
  /** Since when its polls are answered without a job, so that it can be frozen; null or absent: it may get one. */
  readonly heldAtMs?: number | null;
  /** When it last went on after a pause, in this session; null or absent: it has not been paused. */
  readonly resumedAtMs?: number | null;
  /** How the last pause failed; null or absent: none has, or one has succeeded since. */
  readonly pauseFailure?: PauseFailure | null;
}

/** What the health checks of a load-balanced worker show, at this instant. */
export interface SessionHealth extends Pick<WorkerHealth, 'standing' | 'words'> {
  /** Unix ms from which it stands so. */
  readonly sinceMs: number;
}

export interface PauseFailure {
  readonly atMs: number;
  /** For people. */
  readonly reason: string;
}

/** All that the agent's plan of one worker looks at. */
export interface WorkerView {
  /** Null: the control plane does not list it. */
  readonly desired: WantedWorker | null;
  /** True once a complete list of desired workers has come in this agent's life: only then is `null` a fact. */
  readonly isSynced: boolean;
  readonly container: ContainerState;
  /** A container of the session that is there no longer was taken away by whoever rules over its host; absent: nobody knows. */
  readonly isTakenAwayWhenGone?: boolean;
  readonly preparation: Preparation;
  /** How much of the image has been pulled, 0 to 100; absent while nothing is pulled, or that is not known. */
  readonly imagePercent?: number;
  /** What keeps its host from going on with a preparation or start that is under way, for people; absent: nothing is known to. */
  readonly heldUpBy?: string;
  /** Null until the container is started or adopted by this agent. */
  readonly session: ContainerSession | null;
  readonly journal: WorkerJournal;
}

/** Whether its container stands still by our own hand: its silence means nothing. */
export const isFrozen = ({ container }: Pick<WorkerView, 'container'>): boolean =>
  container.kind === 'running' && container.isPaused === true;
