import { h } from "preact";
import { expect, test } from "vitest";

import { ShortcutList } from "../../../../runtime/console/shell/shortcut-list.tsx";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer();

function openList() {
  const part = shown(null);
  const add = (keys: string, what: string) => part.data.shortcuts.add([{ keys, what, act: () => {} }]);
  add("g f", "Functions");
  add("j", "Next row");
  add("j", "Next line");
  part.show(h(ShortcutList, { onClose: () => {} }));
  const words = (name: string): readonly string[] =>
    part.body.all(({ localName }) => localName === name).map(({ text }) => text);
  return { ...part, words };
}

test("each key stands there once, with what it does on this page, key by key", () => {
  const { words } = openList();

  expect(words("dd")).toEqual(["Functions", "Next line", "Open the row"]);
  expect(words("kbd")).toEqual(["g", "f", "j", "Enter"]);
});

test("they are turned off where they are listed, and listed all the same", async () => {
  const { body, data, words } = openList();
  const box = body.one("input");
  Object.assign(box, { checked: false });

  box.fire("change");

  expect(data.shortcuts.on.value).toBe(false);
  expect(data.shortcuts.press("j")).toBe(false);
  expect(words("dd")).toHaveLength(3);
});
