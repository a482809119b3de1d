import type { BrokerFaultKind } from "../../api/broker/broker-fault.ts";

/** A server of the broker that cannot store messages, for instance because its disk is full. */
export interface BrokerFault {
  /** Its disk is full, or fails. */
  readonly kind: Extract<BrokerFaultKind, "full" | "io-error">;
  /** Host of the server. */
  readonly server: string;
  /** The server's own error message. */
  readonly why: string;
}

/** Health of the broker beyond what can be seen over a connection. */
export interface BrokerHealth {
  /**
   * The first server that cannot store; undefined when none reports that; unreachable ones are skipped. Never rejects.
   */
  fault(): Promise<BrokerFault | undefined>;
}
