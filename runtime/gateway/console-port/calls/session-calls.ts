import type { Principal } from "../../../core/access/principal.ts";
import { requireAccess } from "../../access/access-denied.ts";
import { invokeAction, resourceOf } from "../../access/function-callers.ts";
import { Admission, type AdmissionParts } from "../../calls/admission.ts";
import type { AsyncParts } from "../../calls/async/async-parts.ts";
import { createAsyncInvoker } from "../../calls/async/async-invoker.ts";
import { createSyncInvoker, type HandleCall, type SyncInvokerParts } from "../../calls/sync/sync-invoker.ts";
import type { WriteError } from "../../calls/write-error.ts";
import { HeldExchange, type HeldReply } from "./held-exchange.ts";

/** What calls of pages are made with: the parts of those of `port`. */
export interface SessionCallsParts {
  readonly admission: Pick<AdmissionParts, "table" | "invokeAuth" | "clientOf" | "isPlatformCredential">;
  readonly sync: SyncInvokerParts;
  readonly async: AsyncParts;
}

/** Calls functions as `port` does, but for who is signed in. */
export class SessionCalls {
  readonly #senders = new WeakMap<object, Principal>();
  readonly #invoke: HandleCall;
  readonly #invokeAsync: HandleCall;

  constructor({ admission: parts, sync, async }: SessionCallsParts) {
    const admission = new Admission({
      ...parts,
      authorise: ({ caller }, ref) => {
        const principal = caller === undefined ? undefined : this.#senders.get(caller);
        if (principal === undefined) throw new Error("a call of a page has a sender");
        requireAccess(principal, { action: invokeAction, resource: resourceOf(ref) });
        return principal;
      },
    });
    // The error is that of the page's request.
    const writeError: WriteError = (exchange, err) => {
      if (exchange instanceof HeldExchange) exchange.fail(err);
      else exchange.destroy();
      return 0;
    };
    this.#invoke = createSyncInvoker({ ...sync, admission, writeError });
    this.#invokeAsync = createAsyncInvoker({ ...async, admission, writeError });
  }

  /** Calls a function at once; resolves as `HeldExchange.replied` does. */
  call(exchange: HeldExchange, sender: Principal): Promise<HeldReply | undefined> {
    this.#senders.set(exchange, sender);
    this.#invoke(exchange);
    return exchange.replied;
  }

  /** Queues a call, or cancels one. */
  queue(exchange: HeldExchange, sender: Principal): Promise<HeldReply | undefined> {
    this.#senders.set(exchange, sender);
    this.#invokeAsync(exchange);
    return exchange.replied;
  }
}
