import { afterEach, describe, expect, test, vi } from "vitest";

import { Shortcuts } from "../../../../runtime/console/data/look/shortcuts.ts";
import { PageTheme } from "../../../../runtime/console/data/look/theme.ts";
import { PageClock } from "../../../../runtime/console/data/time/page-clock.ts";
import { signal } from "@preact/signals";
import { memoryStorage } from "../memory-storage.ts";

describe("Shortcuts", () => {
  function shortcutsAt(time: { now: number }) {
    const pressed: string[] = [];
    const shortcuts = new Shortcuts(() => time.now);
    const remove = shortcuts.add(
      ["?", "g f", "j"].map((keys) => ({ keys, what: keys, act: () => void pressed.push(keys) })),
    );
    return { shortcuts, pressed, remove };
  }

  test("two keys after each other are one shortcut, unless they are too far apart", () => {
    const time = { now: 0 };
    const { shortcuts, pressed } = shortcutsAt(time);

    expect(shortcuts.press("g")).toBe(false);
    expect(shortcuts.press("f")).toBe(true);
    shortcuts.press("g");
    time.now = 5_000;
    expect(shortcuts.press("f")).toBe(false);

    expect(pressed).toEqual(["g f"]);
  });

  test("the last ones of the same keys count, until they go", () => {
    const { shortcuts, pressed } = shortcutsAt({ now: 0 });
    const remove = shortcuts.add([{ keys: "j", what: "other", act: () => void pressed.push("other") }]);

    shortcuts.press("j");
    remove();
    shortcuts.press("j");

    expect(pressed).toEqual(["other", "j"]);
  });

  test("they can be turned off", () => {
    const { shortcuts, pressed } = shortcutsAt({ now: 0 });

    shortcuts.turn(false);

    expect(shortcuts.press("?")).toBe(false);
    expect(pressed).toEqual([]);
  });
});

describe("Shortcuts, in a window", () => {
  class PlaceElement {
    readonly #isField: boolean;

    constructor(isField: boolean) {
      this.#isField = isField;
    }

    closest(): this | null {
      return this.#isField ? this : null;
    }
  }
  afterEach(() => void vi.unstubAllGlobals());

  /** Presses `?`; returns whether it was a shortcut. */
  function pressed(event: Partial<KeyboardEvent>, isField = false): boolean {
    vi.stubGlobal("Element", PlaceElement);
    let press: (event: KeyboardEvent) => void = () => {};
    let acts = 0;
    const shortcuts = new Shortcuts();
    shortcuts.add([{ keys: "?", what: "help", act: () => acts++ }]);
    shortcuts.listenTo({ addEventListener: (_name: string, listener: typeof press) => (press = listener) } as never);
    let isPrevented = false;
    const preventDefault = (): void => void (isPrevented = true);
    press({ key: "?", target: new PlaceElement(isField), preventDefault, ...event } as unknown as KeyboardEvent);
    expect(isPrevented).toBe(acts === 1);
    return acts === 1;
  }

  test("a key is one, another is not", () => {
    expect([pressed({}), pressed({ key: "!" })]).toEqual([true, false]);
  });

  test.each([
    [{ ctrlKey: true }],
    [{ metaKey: true }],
    [{ altKey: true }],
    [{ isComposing: true }],
    [{ defaultPrevented: true }],
  ])("none with %j", (event) => {
    expect(pressed(event)).toBe(false);
  });

  test("none inside a field or a dialog", () => {
    expect(pressed({}, true)).toBe(false);
  });
});

test("a theme is kept; that of the system is none", () => {
  const store = memoryStorage();
  const root = { dataset: {} as Record<string, string> } as unknown as HTMLElement;

  new PageTheme(store, root).choose("dark");
  expect(root.dataset).toEqual({ theme: "dark" });
  expect(new PageTheme(store, root).choice.value).toBe("dark");
  new PageTheme(store, root).choose("system");

  expect(root.dataset).toEqual({});
  expect(store).toEqual({});
});

test("a time zone is kept; one that nobody knows is not", () => {
  const store = memoryStorage({ "weir-time-zone": "Mars/Olympus" });
  const visible = signal(false);
  const clock = new PageClock(store, visible, () => 1);

  expect(clock.zone.value).toBeUndefined();
  clock.showIn("Asia/Tokyo");

  expect(new PageClock(store, visible, () => 1).zone.value).toBe("Asia/Tokyo");
  clock.showIn(undefined);
  expect(new PageClock(store, visible, () => 1).zone.value).toBeUndefined();
});
