import { signal } from "@preact/signals";
import { Fragment, h } from "preact";
import { describe, expect, test } from "vitest";

import { Button } from "../../../../runtime/console/parts/forms/button.tsx";
import { Confirm } from "../../../../runtime/console/parts/forms/confirm.tsx";
import { TextField } from "../../../../runtime/console/parts/forms/field.tsx";
import { Panel } from "../../../../runtime/console/parts/layout/panel.tsx";
import { linePath } from "../../../../runtime/console/parts/charts/sparkline.tsx";
import { Table } from "../../../../runtime/console/parts/tables/table.tsx";
import { FailureNote } from "../../../../runtime/console/parts/texts/failure-note.tsx";
import { RequestFailure } from "../../../../runtime/console/data/requests/request-failure.ts";
import { Facts } from "../../../../runtime/console/parts/texts/sentence.tsx";
import { Shown } from "../../../../runtime/console/parts/texts/shown.tsx";
import { StateBadge } from "../../../../runtime/console/parts/texts/state-badge.tsx";
import { Time } from "../../../../runtime/console/parts/texts/time.tsx";
import type { PageElement } from "../page-document.ts";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer();

describe("Button", () => {
  test("one that is off says why, stays in the order of focus and does nothing", () => {
    let pressed = 0;
    const { body } = shown(h(Button, { off: "It needs a name", onClick: () => pressed++, children: "Deploy" }));
    const button = body.one("button");

    const event = button.fire("click");

    expect(pressed).toBe(0);
    expect(event.defaultPrevented).toBe(true);
    expect(button.attributes.get("aria-disabled")).toBe("true");
    expect(button.attributes.has("disabled")).toBe(false);
    expect(button.attributes.get("title")).toBe("It needs a name");
  });

  test("what changes something is off while the gateway is away", async () => {
    let pressed = 0;
    const { body, data } = shown(
      h(Fragment, {}, [
        h(Button, { look: "main", onClick: () => pressed++, children: "Send" }),
        h(Button, { onClick: () => pressed++, children: "Show" }),
      ]),
    );

    data.connection.lost();
    await expect.poll(() => body.one("button", "Send").attributes.get("aria-disabled")).toBe("true");
    body.one("button", "Send").fire("click");
    body.one("button", "Show").fire("click");

    expect(pressed).toBe(1);
  });
});

describe("Confirm", () => {
  const ask = (onConfirm: () => Promise<unknown>, onClose: () => void) =>
    h(Confirm, {
      title: "Delete hello",
      act: "Delete 1 function",
      typed: "hello",
      onConfirm,
      onClose,
      children: "It goes.",
    });

  const typeName = async (body: PageElement): Promise<void> => {
    const act = body.one("button", "Delete 1 function");
    expect(act.attributes.get("aria-disabled")).toBe("true");
    body.one("input").value = "hello";
    body.one("input").fire("input");
    await expect.poll(() => act.attributes.get("aria-disabled")).toBe("false");
  };

  test("what cannot be undone needs the name typed, then is done and closed", async () => {
    const done: string[] = [];
    const { body } = shown(
      ask(
        async () => void done.push("deleted"),
        () => void done.push("closed"),
      ),
    );
    await expect.poll(() => body.one("dialog").isOpen).toBe(true);

    body.one("form").fire("submit");
    expect(done).toEqual([]);
    await typeName(body);
    body.one("form").fire("submit");

    await expect.poll(() => done).toEqual(["deleted", "closed"]);
  });

  test("a refusal stays in the dialog", async () => {
    const refusal = new RequestFailure("forbidden", "Cannot delete function", { status: 403 });
    let closed = 0;
    const { body } = shown(
      ask(
        () => Promise.reject(refusal),
        () => closed++,
      ),
    );
    await typeName(body);

    body.one("form").fire("submit");

    await expect.poll(() => body.text).toContain("Cannot delete function");
    expect(closed).toBe(0);
  });
});

test("a field has its label, and says what is wrong with what stands in it", () => {
  const { body } = shown(h(TextField, { label: "Replicas", value: signal("x"), problem: "A whole number from 0" }));

  const [label, input] = [body.one("label"), body.one("input")];

  const id = input.attributes.get("id") ?? "";
  expect(label.attributes.get("for")).toBe(id);
  expect(input.attributes.get("aria-invalid")).toBe("true");
  expect(input.attributes.get("aria-describedby")).toBe(`${id}-problem`);
  expect(body.text).toBe("ReplicasA whole number from 0");
});

test("a panel that breaks says so, and the rest works", async () => {
  const isBroken = signal(false);
  function Fragile() {
    if (isBroken.value) throw new Error("rows is not iterable");
    return "fine";
  }
  const { body } = shown(
    h(Fragment, {}, [
      h(Panel, { title: "One", children: h(Fragile, {}) }),
      h(Panel, { title: "Other", children: "here" }),
    ]),
  );
  expect(body.text).toContain("fine");

  isBroken.value = true;

  await expect.poll(() => body.text).toContain("This is a defect of the console");
  expect(body.text).toContain("rows is not iterable");
  expect(body.text).toContain("here");
});

test("a failure is the gateway's sentence, and what it comes to", () => {
  const forbidden = new RequestFailure("forbidden", "Cannot list calls: Call:List is missing", { status: 403 });
  const busy = new RequestFailure("too_many_calls", "Cannot call", { status: 429, retryAfterSeconds: 2 });
  const { body } = shown(
    h(Fragment, {}, [
      h(FailureNote, { failure: forbidden }),
      h(FailureNote, { failure: busy, repeats: true }),
      h(FailureNote, { failure: busy }),
    ]),
  );

  expect(body.all((each) => each.localName === "p").map(({ text }) => text)).toEqual([
    "Cannot list calls: Call:List is missing",
    "Cannot call The page asks again in 2 seconds.",
    "Cannot call Try again in 2 seconds.",
  ]);
});

test("a time is in words, and exactly for who asks", () => {
  const at = "2026-01-31T12:00:00.020Z";
  const { body } = shown(h(Time, { at }), undefined, Date.parse(at) + 125_000);
  const time = body.one("time");

  expect(time.text).toBe("2 minutes ago");
  expect(time.attributes.get("data-tip")).toBe("2026-01-31 12:00:00.020 UTC");
  expect(time.attributes.get("dateTime")).toBe(at);
  expect(time.attributes.get("tabIndex")).toBe("0");
});

test("text from elsewhere is text", () => {
  const { body } = shown(h(Shown, { text: "<b>x</b>\u202e" }));

  expect(body.text).toBe("<b>x</b>\\u202e");
  expect(body.all(({ localName }) => localName === "b")).toEqual([]);
});

test("a state has a shape and words beside its colour", () => {
  const { body } = shown(
    h(Fragment, {}, [
      h(StateBadge, { tone: "good", children: "Ready" }),
      h(StateBadge, { tone: "bad", children: "Stalled" }),
    ]),
  );
  const shapes = body.all(({ localName }) => localName === "path").map((path) => path.attributes.get("d"));

  expect(body.text).toBe("ReadyStalled");
  expect(new Set(shapes).size).toBe(2);
});

describe("Table", () => {
  const columns = [
    { key: "name", title: "Name", sorts: true, cell: (row: string) => row },
    { key: "size", title: "Size", align: "end" as const, sorts: true, cell: (row: string) => String(row.length) },
  ];
  const sortOf = (body: PageElement): readonly (string | undefined)[] =>
    body.all((each) => each.attributes.get("role") === "columnheader").map((head) => head.attributes.get("aria-sort"));

  test("a title sorts by its column, numbers from the greatest", () => {
    const orders: unknown[] = [];
    const order = { key: "name", descending: false };
    const { body } = shown(
      h(Table<string>, {
        label: "Names",
        columns,
        rows: ["a", "bb"],
        keyOf: (row) => row,
        order,
        onOrder: (next) => orders.push(next),
      }),
    );
    expect(sortOf(body)).toEqual(["ascending", "none"]);

    body.all(({ localName }) => localName === "button").forEach((button) => button.fire("click"));

    expect(orders).toEqual([
      { key: "name", descending: true },
      { key: "size", descending: true },
    ]);
  });

  test("rows and cells are those of a table", () => {
    const { body } = shown(h(Table<string>, { label: "Names", columns, rows: ["a", "bb"], keyOf: (row) => row }));
    const count = (role: string): number => body.all((each) => each.attributes.get("role") === role).length;

    expect([count("table"), count("row"), count("columnheader"), count("cell")]).toEqual([1, 3, 2, 4]);
  });
});

test("linePath() has a hole where values are not known", () => {
  expect(linePath([0, 10, null, 5], 30, 12)).toBe("M0 11L10 1M30 6");
  expect(linePath([0, 0], 10, 12)).toBe("M0 11L10 11");
  expect(linePath([], 10, 12)).toBe("");
});

describe("Facts", () => {
  test("a long name may break after dots and slashes, and stays a text", () => {
    const name = "Annotation com.service.http/<b>x\u202e.path";
    const { body } = shown(h(Facts, { rows: [[name, "1"]] }));
    const dt = body.one("dt");

    expect(dt.text).toBe("Annotation com.service.http/<b>x\\u202e.path");
    expect(dt.all(({ localName }) => localName === "wbr")).toHaveLength(4);
    expect(dt.all(({ localName }) => localName !== "wbr").map(({ localName }) => localName)).toEqual(["span"]);
  });

  test("one of plain words has no such place", () => {
    const { body } = shown(h(Facts, { rows: [["Calls so far", "1"]] }));

    expect(body.one("dt").text).toBe("Calls so far");
    expect(body.all(({ localName }) => localName === "wbr")).toEqual([]);
  });
});
