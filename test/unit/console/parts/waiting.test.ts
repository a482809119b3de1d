import { signal } from "@preact/signals";
import { h } from "preact";
import { afterEach, describe, expect, test, vi } from "vitest";

import { RequestFailure } from "../../../../runtime/console/data/requests/request-failure.ts";
import type { Loaded } from "../../../../runtime/console/data/requests/use-loaded.ts";
import { Dialog } from "../../../../runtime/console/parts/forms/dialog.tsx";
import { LoadedView } from "../../../../runtime/console/parts/layout/loaded-view.tsx";
import { CopyButton } from "../../../../runtime/console/parts/texts/copy.tsx";
import { SaidText } from "../../../../runtime/console/parts/texts/said-text.tsx";
import type { PageElement } from "../page-document.ts";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer(1_000_000);
afterEach(() => void vi.unstubAllGlobals());

const passes = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

describe("LoadedView", () => {
  const view = (state: Loaded<string>) => {
    const source = signal(state);
    const { body } = shown(h(LoadedView<string>, { state: source, what: "the queues", children: (value) => value }));
    return { body, source };
  };
  const waiting: Loaded<string> = { value: undefined, readAt: 0, failure: undefined, since: 1_000_000 };
  const outlines = (body: PageElement): number => body.all((each) => each.attributes.get("class") === "outline").length;

  test("what comes at once shows no outline; after 1 s there is one, after 5 s it says what it waits for", async () => {
    const { body } = view(waiting);
    await passes(900);
    expect([outlines(body), body.text]).toEqual([0, ""]);
    await passes(200);
    expect([outlines(body), body.text]).toEqual([3, ""]);
    await passes(4_000);
    expect(body.text).toBe("Waiting for the queues");
  });

  test("old content stays while newer is on its way, and while that fails", async () => {
    const { body, source } = view({ ...waiting, value: "three queues" });
    await passes(10_000);
    expect(body.text).toBe("three queues");

    const failure = new RequestFailure("queue_unavailable", "Cannot list queues", {
      status: 503,
      retryAfterSeconds: 2,
    });
    source.value = { ...source.value, failure, since: undefined };
    await passes(0);

    expect(body.text).toBe("Cannot list queues The page asks again in 2 seconds.three queues");
  });
});

test("a count is shown at once, and read aloud at most every 5 s", async () => {
  const { body, show } = shown(h(SaidText, { text: "1 call" }));
  const said = (): string =>
    body.all((each) => each.attributes.get("role") === "status").map((each) => each.text)[0] ?? "";
  const seen = (): string =>
    body.all((each) => each.attributes.get("aria-hidden") === "true").map((each) => each.text)[0] ?? "";
  await passes(100);

  for (const text of ["2 calls", "3 calls", "4 calls"]) {
    show(h(SaidText, { text }));
    await passes(1_000);
    expect([seen(), said()]).toEqual([text, "1 call"]);
  }
  await passes(3_000);

  expect([seen(), said()]).toEqual(["4 calls", "4 calls"]);
});

test.each([
  [true, ["closed"]],
  [false, []],
])("a dialog with closes=%j: Escape leaves it to whoever opened it", async (closes, expected) => {
  const done: string[] = [];
  const { body, show } = shown(h(Dialog, { title: "Ask", closes, onClose: () => done.push("closed"), children: "?" }));
  const dialog = body.one("dialog");
  expect(dialog.isOpen).toBe(true);

  const event = dialog.fire("cancel");

  expect(event.defaultPrevented).toBe(true);
  expect([done, dialog.isOpen]).toEqual([expected, true]);
  expect(body.all(({ localName }) => localName === "button")).toHaveLength(closes ? 1 : 0);
  show(null);
  expect(dialog.isOpen).toBe(false);
});

test.each([
  ["Copied", () => Promise.resolve()],
  ["Not allowed", () => Promise.reject(new DOMException("no", "NotAllowedError"))],
])("a button that copies says %s, for a moment", async (word, writeText) => {
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  const { body } = shown(h(CopyButton, { text: "weir ls" }));

  body.one("button").fire("click");
  await passes(100);
  expect(body.one("button").text).toBe(word);
  await passes(2_000);

  expect(body.one("button").text).toBe("Copy");
});
