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

/** The queues that are declared; written by the doctor alone. */
export interface QueueCatalog {
  get(name: string): Promise<QueueDeclaration | undefined>;
  list(): Promise<readonly QueueDeclaration[]>;
  put(queue: QueueDeclaration): Promise<void>;
  remove(name: string): Promise<void>;
}
