/** What the API tells of its objects, of which only what is read here is named; nothing of it is trusted to be there. */
export interface PodObject {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly containers?: readonly ContainerObject[];
    readonly initContainers?: readonly ContainerObject[];
    /** What its runtime class takes of the node beside its containers. */
    readonly overhead?: Quantities;
  };
  readonly status?: PodReport;
}

export interface ContainerObject {
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities };
  readonly volumeMounts?: readonly { readonly mountPath?: string }[];
  /** `Always` of an init container: it runs beside the others as long as they do. */
  readonly restartPolicy?: string;
}

type Quantities = Readonly<Record<string, string>>;

interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** When it is gone at the latest: the moment of the request and the grace. */
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly resourceVersion?: string;
}

export interface PodReport {
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly podIP?: string;
  readonly conditions?: readonly {
    readonly type?: string;
    readonly status?: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

export interface ContainerStatus {
  readonly imageID?: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: TerminatedState;
  };
}

export interface TerminatedState {
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

export interface NodeObject {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly allocatable?: Quantities;
    readonly images?: readonly { readonly names?: readonly string[] }[];
    readonly addresses?: readonly { readonly type?: string; readonly address?: string }[];
  };
}

export interface ObjectList<T> {
  readonly metadata?: { readonly resourceVersion?: string };
  readonly items?: readonly T[];
}

/** What a cluster tells of one of its objects, now and then again. */
export interface EventObject {
  readonly metadata?: { readonly creationTimestamp?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly eventTime?: string | null;
  readonly lastTimestamp?: string | null;
  readonly series?: { readonly lastObservedTime?: string };
}

/** One line of a watch; of `ERROR` the object is the API's own status. */
export interface WatchEvent {
  readonly type: string;
  readonly object: PodObject & { readonly code?: number; readonly message?: string };
}
