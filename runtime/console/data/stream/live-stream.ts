import { signal, type ReadonlySignal } from "@preact/signals";

import type { WatchBye, WatchFault, WatchHello } from "../../../api/schemas/watch/watch-signals.ts";
import { failureFrom, isAbort, RequestFailure } from "../requests/request-failure.ts";
import type { Requests } from "../requests/requests.ts";
import { tryAgainDelay } from "../requests/try-again.ts";
import { pause } from "../requests/wait-for.ts";
import { readEvents, streamComment, type StreamEvent } from "./read-events.ts";
import type { StreamState, TopicListener } from "./stream-state.ts";

/** A stream that is silent for this long is broken, milliseconds: a comment comes every 15 s. */
const longestSilence = 45_000;
/** How often lists are asked for while too many streams are open, milliseconds. */
const pollEvery = 10_000;

export interface LiveStreamParts {
  readonly requests: Requests;
  /** Whether somebody looks at the page. */
  readonly visible: ReadonlySignal<boolean>;
  readonly now?: () => number;
  readonly wait?: (delay: number, stop: AbortSignal) => Promise<void>;
}

/** The one stream of a page: it carries what its parts ask for, is closed while nobody looks, and comes back by itself. */
export class LiveStream {
  readonly #parts: Required<LiveStreamParts>;
  readonly #listeners = new Map<string, Set<TopicListener>>();
  readonly #state = signal<StreamState>({ kind: "closed" });
  readonly #hello = signal<WatchHello | undefined>(undefined);
  #stop = new AbortController();
  #scheduled = false;
  #asked = "";

  constructor(parts: LiveStreamParts) {
    this.#parts = { now: Date.now, wait: pause, ...parts };
    parts.visible.subscribe(() => this.#schedule());
  }

  get state(): ReadonlySignal<StreamState> {
    return this.#state;
  }

  /** What the gateway said of itself. */
  get hello(): ReadonlySignal<WatchHello | undefined> {
    return this.#hello;
  }

  /** Whether somebody looks at the page. */
  get isWatched(): boolean {
    return this.#parts.visible.peek();
  }

  /** Hears of a topic until the returned function is called. */
  listen(topic: string, listener: TopicListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    // Who comes later needs the whole, too, which only a new stream begins with.
    if (listeners.size > 1) this.#asked = "";
    this.#schedule();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
      this.#schedule();
    };
  }

  /** Parts of a page come and go together, so that one stream is opened for all of them. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#adjust();
    });
  }

  #adjust(): void {
    const topics = this.#parts.visible.peek() ? [...this.#listeners.keys()].toSorted() : [];
    const asked = topics.join(",");
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#stop.abort();
    this.#stop = new AbortController();
    if (topics.length === 0) this.#state.value = { kind: "closed" };
    else void this.#run(asked, this.#stop.signal);
  }

  async #run(on: string, stop: AbortSignal): Promise<void> {
    this.#state.value = { kind: "opening" };
    for (let tries = 0; !stop.aborted;) {
      const begun = this.#parts.now();
      const next = await this.#once(on, stop);
      if (stop.aborted) return;
      this.#state.value = next.state;
      if (next.state.kind === "refused") return await this.#pollInstead(stop);
      // One that lasted was well: what broke it is new.
      tries = this.#parts.now() - begun > longestSilence ? 1 : tries + 1;
      await this.#parts.wait(next.state.kind === "full" ? pollEvery : next.wait(tries), stop);
    }
  }

  /** Reads one stream to its end, which leaves the state to be in until the next one. */
  async #once(on: string, stop: AbortSignal): Promise<{ state: StreamState; wait: (tries: number) => number }> {
    const silence = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), longestSilence);
    };
    let bye: WatchBye | undefined;
    try {
      heard();
      const response = await this.#parts.requests.open("GET", "/system/watch", {
        query: { on },
        headers: { Accept: "text/event-stream, application/json;q=0.5" },
        signal: AbortSignal.any([stop, silence.signal]),
        act: "watch",
      });
      this.#state.value = { kind: "open", since: this.#parts.now() };
      for await (const event of response.body === null ? [] : readEvents(response.body)) {
        heard();
        if (event !== streamComment) bye = this.#deliver(event) ?? bye;
      }
    } catch (err) {
      if (stop.aborted) return { state: this.#state.peek(), wait: tryAgainDelay };
      const failure = isAbort(err) ? undefined : failureFrom(err);
      if (failure?.status === 429) {
        await this.#poll(stop);
        return { state: { kind: "full", sentence: failure.message }, wait: () => pollEvery };
      }
      if (failure !== undefined && [400, 403, 404].includes(failure.status))
        return { state: { kind: "refused", sentence: failure.message }, wait: tryAgainDelay };
      if (failure instanceof RequestFailure && failure.retryAfterSeconds !== undefined)
        return { state: this.#broken(), wait: () => (failure.retryAfterSeconds ?? 1) * 1_000 };
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
    // What was announced is no fault, and nobody has to know of it.
    if (bye !== undefined) return { state: { kind: "opening" }, wait: () => 500 * Math.random() };
    return { state: this.#broken(), wait: tryAgainDelay };
  }

  #broken(): StreamState {
    const state = this.#state.peek();
    return state.kind === "broken" ? state : { kind: "broken", since: this.#parts.now() };
  }

  #deliver({ name, data }: StreamEvent): WatchBye | undefined {
    const value = JSON.parse(data) as { readonly on?: string };
    if (name === "hello") this.#hello.value = value as WatchHello;
    if (name === "bye") return value as unknown as WatchBye;
    if (value.on === undefined) return undefined;
    for (const listener of this.#listeners.get(value.on) ?? []) {
      if (name === "fault") {
        const { code, detail } = value as WatchFault;
        listener.fault?.(code, detail);
      } else {
        listener.event(name, value);
      }
    }
    return undefined;
  }

  /** Who may not watch may still ask, again and again as long as one of the topics is read. */
  async #pollInstead(stop: AbortSignal): Promise<void> {
    while (!stop.aborted && (await this.#poll(stop))) await this.#parts.wait(pollEvery, stop);
  }

  /** Resolves with whether one of the topics was read. */
  async #poll(stop: AbortSignal): Promise<boolean> {
    const listeners = [...this.#listeners.values()].flatMap((each) => [...each]);
    const asking = listeners.filter((each) => each.poll !== undefined);
    const ended = await Promise.allSettled(asking.map(async (listener) => listener.poll?.(stop)));
    return ended.some(({ status }) => status === "fulfilled");
  }
}
