import type { ReadyReplica } from "../../core/function-table.ts";
import { passedHeaders, type PassedHeaders } from "./reply-headers.ts";

interface LastReply {
  status: number;
  headers: readonly string[];
  passed: PassedHeaders;
}

/** What went on of the last reply of each replica: one that says the same again, in the very same list, is not read again. */
export class ReplyMemory {
  readonly #last = new WeakMap<ReadyReplica, LastReply>();

  /** What of a function's headers goes on to the client. */
  passedOn(replica: ReadyReplica, status: number, headers: readonly string[]): PassedHeaders {
    const last = this.#last.get(replica);
    if (last !== undefined && last.headers === headers && last.status === status) return last.passed;
    const passed = passedHeaders(status, headers);
    if (last === undefined) this.#last.set(replica, { status, headers, passed });
    else Object.assign(last, { status, headers, passed });
    return passed;
  }
}
