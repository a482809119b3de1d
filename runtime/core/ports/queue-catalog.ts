/** A declared queue. Durations are milliseconds. */
export interface QueueDeclaration {
  readonly name: string;
  readonly replicas: number;
  readonly maxInflight: number;
  /** Longest asynchronous run. */
  readonly timeout: number;
  readonly ackWait: number;
  readonly maxLength: number;
  readonly strict: boolean;
  readonly retry: {
    readonly attempts: number;
    readonly codes: readonly number[];
    readonly minWait: number;
    readonly maxWait: number;
  };
}

/** Receives every declared queue: all existing ones, then `synced`, then each change. */
export interface QueueObserver {
  set(queue: QueueDeclaration): void;
  removed(name: string): void;
  synced(): void;
}

/** The declared queues; written by the queue-doctor only. Rejects with `provider_unavailable`. */
export interface QueueCatalog {
  /** Resolves once `synced` was called the first time; the returned function ends the watch. */
  watch(observer: QueueObserver): Promise<() => void>;
  get(name: string): Promise<QueueDeclaration | undefined>;
  list(): Promise<readonly QueueDeclaration[]>;
  put(queue: QueueDeclaration): Promise<void>;
  remove(name: string): Promise<void>;
}
