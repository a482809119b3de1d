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
  /** Prints a line for the person at the terminal. */
  readonly say: (line: string) => void;
  readonly lifecycle: Lifecycle;
  /** Aborts when the stop begins. */
  readonly stop: AbortSignal;
  /** Sets the `count` that is called when the stop begins. */
  readonly countUnderWay: (count: () => UnderWay) => void;
}
