import { h } from "preact";
import { expect, test } from "vitest";

import type {
  Waterfall,
  WaterfallRow,
  WaterfallSegment,
} from "../../../../runtime/console/pages/calls/one/waterfall.ts";
import { WaterfallView } from "../../../../runtime/console/pages/calls/one/waterfall-view.tsx";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer();

const segment = (
  kind: WaterfallSegment["kind"],
  from: number,
  to: number,
  facts: Partial<WaterfallSegment> = {},
): WaterfallSegment => ({ kind, from, to, isOpen: false, hasFailed: false, ...facts });
const run = (number: number, ...segments: readonly WaterfallSegment[]): WaterfallRow => ({
  kind: "attempt",
  number,
  segments,
});

/** Begin and width of each bar, per cent. */
function barsOf(waterfall: Waterfall): readonly (readonly number[])[] {
  const { body } = shown(h(WaterfallView, { waterfall }));
  return body
    .all(({ localName }) => localName === "rect")
    .map(({ attributes }) => ["x", "width"].map((name) => Number.parseFloat(attributes.get(name) ?? "")));
}

test("bars stand where their time is, as wide as it is long", () => {
  const rows = [run(1, segment("starting", 1_000, 1_500), segment("running", 1_500, 2_000))];

  expect(barsOf({ from: 1_000, to: 3_000, rows })).toEqual([
    [0, 25],
    [25, 25],
  ]);
});

test("one that could not be seen is as wide as can be, and stays inside", () => {
  const rows = [run(1, segment("running", 0, 1), segment("callback", 999_999, 1_000_000))];

  expect(barsOf({ from: 0, to: 1_000_000, rows })).toEqual([
    [0, 0.6],
    [99.4, 0.6],
  ]);
});

test("what took no time has no bar, unless it goes on", () => {
  const rows = [run(1, segment("starting", 5, 5), segment("running", 5, 5, { isOpen: true }))];

  expect(barsOf({ from: 0, to: 10, rows })).toEqual([[50, 0.6]]);
});

test("the words of a row say the same as its bars", () => {
  const rows = [
    { ...run(1, segment("starting", 0, 1_400), segment("running", 1_400, 1_412, { hasFailed: true })), status: 503 },
    run(2, segment("running", 3_000, 3_500, { isOpen: true })),
  ];

  const { body } = shown(h(WaterfallView, { waterfall: { from: 0, to: 3_500, rows } }));

  expect(body.text).toContain("Run 1503, starting 1.4 s, ran 12 ms");
  expect(body.text).toContain("Run 2ran 500 ms so far");
});

test("very many rows scroll, which the keyboard reaches", () => {
  const rows = Array.from({ length: 132 }, (_, index) => run(index + 1, segment("running", index, index + 1)));
  const place = (count: number): string | undefined => {
    const { body, close } = shown(h(WaterfallView, { waterfall: { from: 0, to: 132, rows: rows.slice(0, count) } }));
    const index = body.one("figure").attributes.get("tabIndex");
    close();
    return index;
  };

  expect([place(132), place(3)]).toEqual(["0", undefined]);
});
