import type { CallRecord } from "../../runtime/api/schemas/call-record.ts";
import { eventually } from "./eventually.ts";
import type { Platform } from "./platform.ts";

type Callback = NonNullable<CallRecord["callback"]>;

/** The callback of a call as its record shows it. */
export async function callbackOf(platform: Platform, id: string): Promise<Callback | undefined> {
  return (await platform.calls.status(id))?.callback;
}

/** Waits at most `within` milliseconds (45 000) until the callback is sent or failed. */
export function callbackSettled(platform: Platform, id: string, within = 45_000): Promise<Callback> {
  return eventually(
    async () => {
      const callback = await callbackOf(platform, id);
      return callback?.state === "sent" || callback?.state === "failed" ? callback : undefined;
    },
    { within, what: `the callback of ${id} to be sent or failed` },
  );
}
