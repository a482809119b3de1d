import { signal } from "@preact/signals";
import { h } from "preact";
import { describe, expect, test, vi } from "vitest";

import { usePendingScale } from "../../../../runtime/console/data/functions/pending-scale.ts";
import { pageVisible } from "../../../../runtime/console/data/look/page-visible.ts";
import { RequestFailure } from "../../../../runtime/console/data/requests/request-failure.ts";
import { useRepeat } from "../../../../runtime/console/data/requests/use-repeat.ts";
import { useSending } from "../../../../runtime/console/data/requests/use-sending.ts";
import { pause } from "../../../../runtime/console/data/requests/wait-for.ts";
import { SentChanges } from "../../../../runtime/console/data/sent-change.ts";
import type { RenderedPart } from "../render-part.tsx";
import { partRenderer, someFrames } from "../shown-parts.ts";

const shown = partRenderer(0);

/** Renders what uses `hook`; resolves with what it gave once its effects have run. */
async function using<Used>(hook: () => Used): Promise<{ readonly used: () => Used; readonly part: RenderedPart }> {
  let used: Used | undefined;
  function Probe() {
    used = hook();
    return null;
  }
  const part = shown(h(Probe, {}));
  await vi.advanceTimersByTimeAsync(someFrames);
  return { used: () => used as Used, part };
}

describe("useSending()", () => {
  test("a change is sent once at a time, and is done", async () => {
    const { used } = await using(useSending);
    const first = Promise.withResolvers<void>();
    let others = 0;

    const sent = used().send(() => first.promise);
    expect(used().state.value).toEqual({ kind: "sending" });
    expect(await used().send(async () => void others++)).toBe(false);
    first.resolve();

    expect(await sent).toBe(true);
    expect([used().state.value, others]).toEqual([{ kind: "done" }, 0]);
  });

  test("a refusal is kept until it is put away, and one that nobody needs is none", async () => {
    const { used } = await using(useSending);
    const failure = new RequestFailure("forbidden", "Cannot scale hello", { status: 403 });

    expect(await used().send(() => Promise.reject(failure))).toBe(false);
    expect(used().state.value).toEqual({ kind: "failed", failure });
    used().reset();
    expect(used().state.value).toEqual({ kind: "idle" });
    expect(await used().send(() => Promise.reject(new DOMException("stopped", "AbortError")))).toBe(false);

    expect(used().state.value).toEqual({ kind: "idle" });
  });
});

describe("usePendingScale()", () => {
  const scale = { key: "hello.dev", before: 1, wanted: 3 };

  test("a count is pending until the platform says another, or too long", async () => {
    const desired = signal(1);
    const { used } = await using(() => usePendingScale(() => desired.value));

    used().begin(scale);
    await vi.advanceTimersByTimeAsync(someFrames);
    expect(used().pending.value).toEqual(scale);
    desired.value = 3;
    await vi.advanceTimersByTimeAsync(someFrames);
    expect(used().pending.value).toBeUndefined();

    desired.value = 1;
    used().begin(scale);
    await vi.advanceTimersByTimeAsync(14_000);
    expect(used().pending.value).toEqual(scale);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(used().pending.value).toBeUndefined();
  });

  test("what is desired already is not pending", async () => {
    const { used } = await using(() => usePendingScale(() => 3));

    used().begin({ ...scale, before: 3 });

    expect(used().pending.value).toBeUndefined();
  });
});

test("what is repeated rests while nobody looks, and ends with its part", async () => {
  let acts = 0;
  const { part } = await using(() => useRepeat(() => acts++, 1_000));

  await vi.advanceTimersByTimeAsync(3_000);
  expect(acts).toBe(0);
  part.look(true);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(acts).toBe(3);
  part.show(null);
  await vi.advanceTimersByTimeAsync(3_000);

  expect(acts).toBe(3);
});

test("pause() ends with its time, or with its signal", async () => {
  const stop = new AbortController();
  const ended: string[] = [];
  void pause(1_000).then(() => ended.push("time"));
  void pause(60_000, stop.signal).then(() => ended.push("signal"));

  await vi.advanceTimersByTimeAsync(999);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual(["time"]);
  stop.abort();
  await vi.advanceTimersByTimeAsync(0);

  expect(ended).toEqual(["time", "signal"]);
  await pause(60_000, stop.signal);
});

test("pageVisible() follows the document", () => {
  const document = Object.assign(new EventTarget(), { visibilityState: "hidden" });
  const visible = pageVisible(document as unknown as Document);
  expect(visible.value).toBe(false);

  document.visibilityState = "visible";
  document.dispatchEvent(new Event("visibilitychange"));

  expect(visible.value).toBe(true);
});

test("the note of a change stays on the page that it led to, and goes with the next", () => {
  const sent = new SentChanges();
  const change = { what: "Scale hello to 3 replicas", command: "weir scale hello 3" };

  sent.say(change);
  sent.turnPage();
  expect(sent.last.value).toEqual(change);
  sent.turnPage();

  expect(sent.last.value).toBeUndefined();
});
