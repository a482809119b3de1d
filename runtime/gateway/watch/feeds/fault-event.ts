import { PlatformError } from "../../../api/platform-error.ts";
import { eventText } from "../../../core/watch/event-text.ts";
import type { Log } from "../../../process/log.ts";

/** The event of a topic that cannot be shown now; `defect` is its sentence where the gateway itself is at fault, which is logged. */
export function faultEvent(on: string, err: unknown, { log, defect }: { log: Log; defect: string }): string {
  if (!(err instanceof PlatformError)) log.error({ err, topic: on }, "a watched topic failed");
  const { code, message: detail } = err instanceof PlatformError ? err : new PlatformError("internal_error", defect);
  return eventText("fault", { on, code, detail });
}
