import { h } from "preact";
import { expect, test } from "vitest";

import { shownLine } from "../../../../runtime/console/pages/functions/logs/log-line.ts";
import { LogLineRow, type LogLineRowProps } from "../../../../runtime/console/pages/functions/logs/log-row.tsx";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer();
const lineOf = (text: string) =>
  shownLine({ name: "pay", namespace: "dev", instance: "pay-1-0", timestamp: "2026-01-31T12:00:01Z", text }, 0);

test("a line of a log shows anew whatever of it changed", () => {
  const first: LogLineRowProps = { line: lineOf("order was paid"), find: "", here: "/ui/f/dev/pay/logs", zone: "UTC" };
  const { body, show } = shown(h(LogLineRow, first));
  const facts = (): readonly unknown[] => [
    body.text,
    body.one("a").attributes.get("href"),
    body.all(({ localName }) => localName === "mark").length,
  ];
  const href = "/ui/f/dev/pay/logs#2026-01-31T12%3A00%3A01Z~pay-1-0";
  expect(facts()).toEqual(["12:00:01pay-1-0order was paid", href, 0]);

  show(h(LogLineRow, { ...first, find: "PAID" }));
  expect(facts()).toEqual(["12:00:01pay-1-0order was paid", href, 1]);
  show(h(LogLineRow, { ...first, zone: "Asia/Tokyo" }));
  expect(facts()).toEqual(["21:00:01pay-1-0order was paid", href, 0]);
  show(h(LogLineRow, { ...first, here: "/ui/f/dev/pay/logs?wrap=no" }));
  expect(facts()[1]).toContain("?wrap=no#");
  show(h(LogLineRow, { ...first, line: lineOf("refused") }));
  expect(facts()[0]).toBe("12:00:01pay-1-0refused");
});
