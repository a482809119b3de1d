import type { QueueDeclaration } from "../../core/ports/queue-catalog.ts";
import type { Lifecycle } from "../../process/lifecycle.ts";
import type { Log } from "../../process/log.ts";
import type { HostSettings } from "../settings.ts";
import type { UnderWay } from "../stop-notice.ts";

/** What every part of a host is opened with. */
export interface HostStart {
  readonly settings: HostSettings;
  readonly queues: readonly QueueDeclaration[];
  readonly log: Log;
  /** Tells the person at the terminal. */
  readonly say: (line: string) => void;
  readonly lifecycle: Lifecycle;
  /** Aborts when the end begins. */
  readonly stop: AbortSignal;
  /** From now on `count` is asked when the end begins. */
  readonly countUnderWay: (count: () => UnderWay) => void;
}
