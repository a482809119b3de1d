import { signal } from "@preact/signals";
import { afterEach, describe, expect, test, vi } from "vitest";

import { RequestFailure } from "../../../../runtime/console/data/requests/request-failure.ts";
import type { PageRequest, Requests } from "../../../../runtime/console/data/requests/requests.ts";
import { LiveStream } from "../../../../runtime/console/data/stream/live-stream.ts";

/** A stream that the test writes. */
class OpenedStream {
  readonly on: string;
  readonly signal: AbortSignal | undefined;
  readonly response: Response;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor({ query, signal: stop }: PageRequest) {
    this.on = String(query?.["on"]);
    this.signal = stop;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#controller = controller) });
    stop?.addEventListener("abort", () => this.#controller?.error(new DOMException("stopped", "AbortError")));
    this.response = new Response(body);
  }

  send(name: string, data: unknown): void {
    this.#controller?.enqueue(new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
  }

  comment(): void {
    this.#controller?.enqueue(new TextEncoder().encode(": still here\n\n"));
  }

  end(): void {
    this.#controller?.close();
  }
}

function openedStream(time: { now: number } = { now: 7 }) {
  const visible = signal(true);
  const streams: OpenedStream[] = [];
  const waits: number[] = [];
  const failures: Error[] = [];
  const requests = {
    open: async (_method: string, _path: string, asked: PageRequest) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const opened = new OpenedStream(asked);
      streams.push(opened);
      return opened.response;
    },
  } as unknown as Requests;
  const stream = new LiveStream({
    requests,
    visible,
    now: () => time.now,
    wait: async (delay) => void waits.push(delay),
  });
  return { stream, visible, streams, waits, failures };
}

const isOpen = (streams: readonly OpenedStream[]): readonly string[] =>
  streams.filter((each) => each.signal?.aborted !== true).map(({ on }) => on);

afterEach(() => void vi.useRealTimers());

describe("LiveStream", () => {
  test("one stream carries all topics of the page; each listener hears its own", async () => {
    const { stream, streams } = openedStream();
    const heard: unknown[] = [];
    stream.listen("queues", { event: (name, data) => heard.push(["queues", name, data]) });
    stream.listen("doctor", { event: (name, data) => heard.push(["doctor", name, data]) });

    await expect.poll(() => isOpen(streams)).toEqual(["doctor,queues"]);
    streams[0]?.send("hello", { release: "1.2.3", apiVersion: "1.0", time: "" });
    streams[0]?.send("queues", { on: "queues", begin: true });
    streams[0]?.send("other", { on: "calls" });

    await expect.poll(() => heard).toEqual([["queues", "queues", { on: "queues", begin: true }]]);
    expect(stream.hello.value?.release).toBe("1.2.3");
    expect(stream.state.value).toEqual({ kind: "open", since: 7 });
  });

  test("another set of topics opens another stream, and ends the one before", async () => {
    const { stream, streams } = openedStream();
    const leave = stream.listen("queues", { event: () => {} });
    await expect.poll(() => isOpen(streams)).toEqual(["queues"]);

    leave();
    stream.listen("calls", { event: () => {} });

    await expect.poll(() => isOpen(streams)).toEqual(["calls"]);
    expect(streams).toHaveLength(2);
  });

  test("who comes to a topic later gets the whole of it, too", async () => {
    const { stream, streams } = openedStream();
    stream.listen("queues", { event: () => {} });
    await expect.poll(() => isOpen(streams)).toEqual(["queues"]);

    stream.listen("queues", { event: () => {} });

    await expect.poll(() => streams.length).toBe(2);
    expect(isOpen(streams)).toEqual(["queues"]);
  });

  test("it is closed while nobody looks, and while nobody asks", async () => {
    const { stream, streams, visible } = openedStream();
    const leave = stream.listen("queues", { event: () => {} });
    await expect.poll(() => isOpen(streams)).toEqual(["queues"]);

    visible.value = false;
    await expect.poll(() => isOpen(streams)).toEqual([]);
    expect(stream.state.value.kind).toBe("closed");
    visible.value = true;
    await expect.poll(() => isOpen(streams)).toEqual(["queues"]);

    leave();
    await expect.poll(() => isOpen(streams)).toEqual([]);
  });

  test("one that breaks comes back, and says since when it was missed", async () => {
    const { stream, streams, waits } = openedStream();
    const states: string[] = [];
    stream.listen("queues", { event: () => {} });
    await expect.poll(() => streams.length).toBe(1);
    stream.state.subscribe(({ kind }) => void states.push(kind));

    streams[0]?.end();

    await expect.poll(() => streams.length).toBe(2);
    expect(states.slice(0, 3)).toEqual(["open", "broken", "open"]);
    expect(waits).toHaveLength(1);
  });

  test("one that cannot be opened is tried after 1, 2, 4 … 30 s, each up to a quarter less", async () => {
    const { stream, streams, waits, failures } = openedStream();
    failures.push(...Array.from({ length: 7 }, () => new RequestFailure("gateway_away", "Cannot watch")));
    stream.listen("queues", { event: () => {} });

    await expect.poll(() => streams.length).toBe(1);

    const most = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
    expect(waits.map((wait, index) => wait <= (most[index] ?? 0) && wait >= (most[index] ?? 0) * 0.75)).toEqual(
      most.map(() => true),
    );
  });

  test("one that lasted was well: its end is tried again after a second", async () => {
    const time = { now: 0 };
    const { stream, streams, waits, failures } = openedStream(time);
    failures.push(...Array.from({ length: 4 }, () => new RequestFailure("gateway_away", "Cannot watch")));
    stream.listen("queues", { event: () => {} });
    await expect.poll(() => streams.length).toBe(1);

    time.now = 60_000;
    streams[0]?.end();

    await expect.poll(() => streams.length).toBe(2);
    expect(waits[3]).toBeGreaterThan(5_000);
    expect(waits[4]).toBeLessThanOrEqual(1_000);
  });

  test("a gateway that says when it wants to be asked again is asked then", async () => {
    const { stream, streams, waits, failures } = openedStream();
    failures.push(new RequestFailure("queue_unavailable", "Cannot watch", { status: 503, retryAfterSeconds: 7 }));
    stream.listen("queues", { event: () => {} });

    await expect.poll(() => streams.length).toBe(1);

    expect(waits).toEqual([7_000]);
  });

  test("an announced end is no fault", async () => {
    const { stream, streams, waits } = openedStream();
    const states: string[] = [];
    stream.listen("queues", { event: () => {} });
    await expect.poll(() => streams.length).toBe(1);
    stream.state.subscribe(({ kind }) => void states.push(kind));

    streams[0]?.send("bye", { reason: "draining" });
    streams[0]?.end();

    await expect.poll(() => streams.length).toBe(2);
    expect(states).not.toContain("broken");
    expect(waits[0]).toBeLessThan(1_000);
  });

  test("a topic that cannot be shown says why", async () => {
    const { stream, streams } = openedStream();
    const faults: string[] = [];
    stream.listen("calls", { event: () => {}, fault: (code, sentence) => void faults.push(code, sentence) });
    await expect.poll(() => streams.length).toBe(1);

    streams[0]?.send("fault", { on: "calls", code: "history_unavailable", detail: "Cannot list calls" });

    await expect.poll(() => faults).toEqual(["history_unavailable", "Cannot list calls"]);
  });

  test("while too many streams are open, the lists are asked for every 10 s", async () => {
    const { stream, streams, waits, failures } = openedStream();
    const full = () => new RequestFailure("too_many_streams", "200 streams are open", { status: 429 });
    failures.push(full(), full());
    const states: unknown[] = [];
    stream.state.subscribe((state) => void states.push(state));
    let polls = 0;
    stream.listen("queues", { event: () => {}, poll: async () => void polls++ });

    await expect.poll(() => isOpen(streams)).toEqual(["queues"]);
    expect(polls).toBe(2);
    expect(waits).toEqual([10_000, 10_000]);
    expect(states).toContainEqual({ kind: "full", sentence: "200 streams are open" });
  });

  test("a refusal stays: asking again would not help", async () => {
    const { stream, streams, failures } = openedStream();
    failures.push(new RequestFailure("forbidden", "Cannot watch calls", { status: 403 }));
    stream.listen("calls", { event: () => {} });

    await expect.poll(() => stream.state.value).toEqual({ kind: "refused", sentence: "Cannot watch calls" });
    expect(streams).toEqual([]);
  });

  test("who may not watch asks every 10 s instead, as long as one of the topics is read", async () => {
    const { stream, streams, waits, failures } = openedStream();
    failures.push(new RequestFailure("forbidden", "Cannot watch this platform", { status: 403 }));
    const replies = ["read", "read", "refused"];
    stream.listen("doctor", { event: () => {}, poll: () => Promise.reject(new Error("refused")) });
    stream.listen("functions", {
      event: () => {},
      poll: async () => {
        if (replies.shift() === "refused") throw new Error("refused");
      },
    });

    await expect.poll(() => replies).toEqual([]);

    expect(stream.state.value).toEqual({ kind: "refused", sentence: "Cannot watch this platform" });
    expect(waits).toEqual([10_000, 10_000]);
    expect(streams).toEqual([]);
  });

  test("45 s without a sign of life are a break; a comment is one", async () => {
    vi.useFakeTimers();
    const { stream, streams } = openedStream();
    stream.listen("queues", { event: () => {} });
    await vi.advanceTimersByTimeAsync(40_000);
    streams[0]?.comment();
    await vi.advanceTimersByTimeAsync(40_000);
    expect([streams.length, stream.state.value.kind]).toEqual([1, "open"]);

    await vi.advanceTimersByTimeAsync(6_000);

    expect(streams.length).toBe(2);
    expect(isOpen(streams)).toEqual(["queues"]);
  });
});
