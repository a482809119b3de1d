/** A server of the broker that cannot store what it is given, for instance as its disk is full. */
export interface BrokerIllness {
  /** Its host. */
  readonly server: string;
  /** Its own words. */
  readonly why: string;
}

/** Tells how the broker itself is, apart from what can be asked over a connection. */
export interface BrokerHealth {
  /** The first server that cannot store; undefined when all can, or are not there to be asked. Never rejects. */
  trouble(): Promise<BrokerIllness | undefined>;
}
