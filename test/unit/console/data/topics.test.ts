import { h } from "preact";
import { expect, test } from "vitest";

import { useLastEvent } from "../../../../runtime/console/data/stream/use-topic.ts";
import type { Replies } from "../render-part.tsx";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer();

interface Counted {
  readonly on: string;
  readonly count: number;
}

const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** A stream of some events that goes on. */
function streamOf(...events: readonly string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const each of events) controller.enqueue(new TextEncoder().encode(each));
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

/** Shows the count that a topic said last, and why it does not say another. */
function open(topic: string | undefined, replies: Replies) {
  const asked: string[] = [];
  function Probe({ on }: { readonly on: string | undefined }) {
    const { event: last, fault } = useLastEvent<Counted>(on, async () => ({ on: "polled", count: 99 })).value;
    return `${last?.on ?? "none"} ${last?.count ?? ""} ${fault ?? ""}`.trim();
  }
  const part = shown(h(Probe, { on: topic }), (method, path, init) => {
    asked.push(path);
    return replies(method, path, init);
  });
  part.look(true);
  return { part, asked, show: (on: string | undefined) => part.show(h(Probe, { on })) };
}

test("a part shows what its topic said last, and keeps it while the topic cannot be shown", async () => {
  const { part, asked } = open("queues", () =>
    streamOf(
      event("queues", { on: "queues", count: 1 }),
      event("queues", { on: "queues", count: 2 }),
      event("fault", { on: "queues", code: "queue_unavailable", detail: "Cannot list queues" }),
    ),
  );

  await expect.poll(() => part.body.text).toBe("queues 2 Cannot list queues");
  expect(asked).toEqual(["/system/watch?on=queues"]);
});

test("another topic begins with nothing, and without one there is no stream", async () => {
  const { part, asked, show } = open("call:1", (_method, path) => {
    const on = new URL(path, "http://console").searchParams.get("on") ?? "";
    return streamOf(event("call", { on, count: 5 }));
  });
  await expect.poll(() => part.body.text).toBe("call:1 5");

  show("call:2");
  await expect.poll(() => part.body.text).toBe("call:2 5");
  show(undefined);

  await expect.poll(() => part.body.text).toBe("none");
  await expect.poll(() => part.data.stream.state.value.kind).toBe("closed");
  expect(asked).toHaveLength(2);
});

test("while too many streams are open, the part asks itself", async () => {
  const full = { code: "too_many_streams", detail: "Cannot watch: 200 streams are open" };
  const { part } = open("queues", () =>
    Response.json(full, { status: 429, headers: { "Content-Type": "application/problem+json" } }),
  );

  await expect.poll(() => part.body.text).toBe("polled 99");
  await expect.poll(() => part.data.stream.state.value).toEqual({ kind: "full", sentence: full.detail });
});
