import { Parse } from "typebox/value";

import { DeadLetterPage, QueueStatus } from "../../runtime/api/schemas/queue-status.ts";
import { eventually } from "./eventually.ts";
import type { Answer } from "./platform-calls.ts";
import type { Platform } from "./platform.ts";

/** Operations of an administrator on queues, over HTTP. */
export interface QueueDesk {
  /** Rejects for any status but 200, and if the body does not match the schema. */
  status(queue?: string): Promise<QueueStatus>;
  /** The status once `fits` is true of it. */
  until(fits: (status: QueueStatus) => boolean, queue?: string): Promise<QueueStatus>;
  letters(query?: string, queue?: string): Promise<DeadLetterPage>;
  redrive(id: string, queue?: string): Promise<Answer>;
  remove(id: string, queue?: string): Promise<Answer>;
  send(method: string, path: string): Promise<Answer>;
}

/** Only sends requests: there is nothing to close. */
export function queueDesk({ calls, authorization }: Pick<Platform, "calls" | "authorization">): QueueDesk {
  const send = (method: string, path: string) => calls.send(method, path, { headers: { authorization } });
  const read = async (path: string): Promise<unknown> => {
    const response = await send("GET", path);
    if (response.status !== 200)
      throw new Error(`GET ${path} answered ${response.status}: ${response.body.toString()}`);
    return JSON.parse(response.body.toString());
  };
  const status = async (queue = "default") => Parse(QueueStatus, await read(`/system/queue/${queue}`));
  const deadLetterOf = (id: string, queue: string) => `/system/queue/${queue}/dead-letters/${id}`;
  return {
    send,
    status,
    until: async (fits, queue) => {
      let seen: QueueStatus | undefined;
      try {
        return await eventually(
          async () => {
            seen = await status(queue);
            return fits(seen) ? seen : undefined;
          },
          { what: "the status of the queue" },
        );
      } catch (cause) {
        throw new Error(`the queue stands otherwise: ${JSON.stringify(seen)}`, { cause });
      }
    },
    letters: async (query = "", queue = "default") =>
      Parse(DeadLetterPage, await read(`/system/queue/${queue}/dead-letters${query}`)),
    redrive: (id, queue = "default") => send("POST", `${deadLetterOf(id, queue)}/redrive`),
    remove: (id, queue = "default") => send("DELETE", deadLetterOf(id, queue)),
  };
}
