import { signal, type ReadonlySignal } from "@preact/signals";

import type { CallPageView } from "../../../../api/schemas/history/call-page.ts";
import type { CallSummary } from "../../../../api/schemas/history/call-summary.ts";
import { failureFrom, type RequestFailure } from "../../../data/requests/request-failure.ts";
import { withCall } from "./call-rows.ts";

/** Reads one page of calls. */
export type ReadCallPage = (after: string | undefined, stop: AbortSignal) => Promise<CallPageView>;

/** A list of calls as it is shown. */
export interface CallListState {
  /** Newest first. */
  readonly calls: readonly CallSummary[];
  /** New ones that are not shown yet, so that nothing moves under whoever reads. */
  readonly held: readonly CallSummary[];
  readonly next: string | undefined;
  readonly total: CallPageView["total"] | undefined;
  readonly history: CallPageView["history"] | undefined;
  readonly failure: RequestFailure | undefined;
  /** When the read began that goes on, milliseconds since 1970. */
  readonly since: number | undefined;
  /** When it was last read; 0 = never. */
  readonly readAt: number;
}

const nothing: CallListState = {
  calls: [],
  held: [],
  next: undefined,
  total: undefined,
  history: undefined,
  failure: undefined,
  since: undefined,
  readAt: 0,
};

/** The calls of one filter: pages that are read one after the other, and changes that come in between. */
export class CallList {
  readonly #read: ReadCallPage;
  readonly #state = signal(nothing);

  constructor(read: ReadCallPage) {
    this.#read = read;
  }

  get state(): ReadonlySignal<CallListState> {
    return this.#state;
  }

  /** Reads the newest ones again; older ones that were read before stay. */
  async begin(stop: AbortSignal): Promise<void> {
    await this.#load(undefined, stop, (page, before) => {
      const last = page.items.at(-1);
      const isWhole = page.next === undefined || last === undefined;
      const place = isWhole ? -1 : before.calls.findIndex(({ callId }) => callId === last.callId);
      const older = place === -1 ? [] : before.calls.slice(place + 1);
      return {
        calls: [...page.items, ...older],
        held: [],
        next: older.length === 0 ? page.next : before.next,
      };
    });
  }

  /** Whether a call may change that the stream does not tell of, as so many are newer. */
  mayChangeBeyond(newest: number): boolean {
    return this.#state.value.calls
      .slice(newest)
      .some(({ endedAt, state }) => endedAt === undefined && state !== "unknown");
  }

  /** Reads the next older ones. */
  async more(stop: AbortSignal): Promise<void> {
    const { next, since } = this.#state.peek();
    if (next === undefined || since !== undefined) return;
    await this.#load(next, stop, (page, before) => {
      const known = new Set(before.calls.map(({ callId }) => callId));
      return {
        calls: [...before.calls, ...page.items.filter(({ callId }) => !known.has(callId))],
        held: before.held,
        next: page.next,
      };
    });
  }

  /**
   * Takes calls in their new state, and drops those that no longer fit the filter; those that are new to the list are
   * held back if `hold`.
   */
  take(changed: readonly CallSummary[], removed: readonly string[], hold: boolean): void {
    const before = this.#state.peek();
    const gone = new Set(removed);
    let calls: readonly CallSummary[] = before.calls.filter(({ callId }) => !gone.has(callId));
    const held: CallSummary[] = [];
    for (const call of [...before.held.filter(({ callId }) => !gone.has(callId)), ...changed]) {
      const isShown = calls.some(({ callId }) => callId === call.callId);
      if (isShown || !hold) calls = withCall(calls, call, before.next !== undefined);
      else held.push(call);
    }
    const latest = [...new Map(held.map((call) => [call.callId, call])).values()];
    this.#state.value = { ...before, calls, held: latest };
  }

  /** Shows what was held back. */
  release(): void {
    this.take([], [], false);
  }

  async #load(
    after: string | undefined,
    stop: AbortSignal,
    merge: (page: CallPageView, before: CallListState) => Pick<CallListState, "calls" | "held" | "next">,
  ): Promise<void> {
    this.#state.value = { ...this.#state.peek(), since: Date.now() };
    try {
      const page = await this.#read(after, stop);
      if (stop.aborted) return this.#rest();
      const { total, history } = page;
      const before = this.#state.peek();
      this.#state.value = {
        ...merge(page, before),
        total,
        history,
        failure: undefined,
        since: undefined,
        readAt: Date.now(),
      };
    } catch (err) {
      if (stop.aborted) return this.#rest();
      this.#state.value = { ...this.#state.peek(), failure: failureFrom(err), since: undefined };
    }
  }

  #rest(): void {
    this.#state.value = { ...this.#state.peek(), since: undefined };
  }
}
