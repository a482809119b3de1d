import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { axeFindings } from "../../support/console/axe-findings.ts";
import type { ConsoleWindow } from "../../support/console/console-browser.ts";
import { openPage } from "../../support/console/judge-page.ts";
import { describeConsole } from "../../support/console/opened-console.ts";
import { expectNoFaults } from "../../support/console/page-faults.ts";
import { testSeededPages } from "../../support/console/seeded-pages.ts";
import { signIn } from "../../support/console/sign-in.ts";

/** Most presses of Tab on a page: lists and logs have many stops. */
const mostStops = 120;

/** A stop of the focus, and what of it cannot be seen. */
interface Stop {
  readonly control: string;
  readonly problems: readonly string[];
}

describeConsole("for everybody", { flags: ["--edition=enterprise"] }, (opened) => {
  let page: Page;
  let zoomed: ConsoleWindow;
  beforeAll(async () => {
    const { browser, weir } = opened();
    ({ page } = opened());
    // A window of 1280 × 1024 at 400 %.
    zoomed = await browser.open({ origin: weir.origin, width: 320, height: 256, scale: 4 });
    await signIn(zoomed.page, weir.weir);
  });
  afterAll(() => zoomed?.[Symbol.asyncDispose]());

  testSeededPages(
    opened,
    async (one) => {
      await page.emulateMedia({ forcedColors: "active" });
      await openPage(page, one);
      expect(await axeFindings(page)).toEqual([]);
      expect(await page.evaluate(colourOnlyStates)).toEqual([]);
      const stops = await stopsOf(page);
      expect(stops.length).toBeGreaterThan(8);
      expect(stops.filter(({ problems }) => problems.length > 0)).toEqual([]);

      await openPage(zoomed.page, one);
      expect(await zoomed.page.evaluate(widerThanTheWindow)).toEqual([]);
      await zoomed.page.getByRole("button", { name: "Menu" }).click();
      expect(await zoomed.page.evaluate(widerThanTheWindow)).toEqual([]);
    },
    "one",
  );

  test("nothing moves for who wants it so", async () => {
    await page.emulateMedia({ forcedColors: "none", reducedMotion: "no-preference" });
    // What is on its way shows an outline, the one thing that moves.
    await page.route(/\/system\/calls\?/, () => {});
    await page.goto("/ui/calls");
    await page.locator(".outline").first().waitFor();
    const moving = () => page.evaluate(() => document.getAnimations().length);
    await expect.poll(moving).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await expect.poll(moving).toBe(0);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("broke no rule when zoomed", () => {
    expectNoFaults(zoomed.faults);
  });
});

/** Presses Tab until the focus was everywhere. */
async function stopsOf(page: Page): Promise<readonly Stop[]> {
  const stops: Stop[] = [];
  for (let presses = 0; presses < mostStops; presses += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(judgeFocused);
    if (stop === "again") return stops;
    stops.push(stop);
  }
  return stops;
}

/** Runs in the page: what of the control that has the focus cannot be seen, or that it had it before. */
function judgeFocused(): Stop | "again" {
  const shared = globalThis as unknown as { visited?: WeakSet<Element> };
  const visited = (shared.visited ??= new WeakSet());
  const { activeElement: element } = document;
  if (element === null || element === document.body || visited.has(element)) return "again";
  visited.add(element);

  const partsOf = (colour: string): readonly number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const isClear = (colour: string): boolean => partsOf(colour)[3] === 0;
  const groundOf = (from: Element | null): string => {
    for (let each = from; each !== null; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (!isClear(backgroundColor)) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = partsOf(colour).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one: string, other: string): number => {
    const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };

  const around = groundOf(element.parentElement);
  const styles = [getComputedStyle(element), getComputedStyle(element, "::after")];
  const ring = styles.find(({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && outlineWidth !== "0px");
  const { width, height } = element.getBoundingClientRect();
  const { color, borderTopColor, borderTopStyle } = getComputedStyle(element);
  const isField = element.matches("select, textarea, input:not([type=checkbox], [type=file])");
  const problems = [
    width === 0 || height === 0 || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      ? "it is not there"
      : "",
    ring === undefined || Number.parseFloat(ring.outlineWidth) < 2 ? "nothing shows that it has the focus" : "",
    ring !== undefined && contrast(ring.outlineColor, around) < 3 ? "its ring is as its ground" : "",
    contrast(color, groundOf(element)) < 4.5 && element.textContent !== "" ? "its text is as its ground" : "",
    isField && (borderTopStyle === "none" || contrast(borderTopColor, around) < 3) ? "its edge is not there" : "",
  ].filter((problem) => problem !== "");
  return { control: element.outerHTML.slice(0, 120), problems };
}

/** Runs in the page: controls that look the same whether they are pressed, here or off. */
function colourOnlyStates(): readonly string[] {
  const look = (element: Element): string => {
    const { backgroundColor, borderBottom, color, fontWeight, outline, textDecorationLine } = getComputedStyle(element);
    return [backgroundColor, borderBottom, color, fontWeight, outline, textDecorationLine].join("; ");
  };
  const states = [
    ["aria-pressed", "true"],
    ["aria-disabled", "true"],
    ["aria-current", "page"],
  ] as const;
  return states.flatMap(([name, value]) =>
    [...document.querySelectorAll(`[${name}=${value}]`)].flatMap((element) => {
      const before = look(element);
      element.removeAttribute(name);
      const isSame = look(element) === before;
      element.setAttribute(name, value);
      return isSame ? [`${name}: ${element.outerHTML.slice(0, 120)}`] : [];
    }),
  );
}

/** Runs in the page: what has to be scrolled sideways, but for logs, bodies and commands. */
function widerThanTheWindow(): readonly string[] {
  const { documentElement: root } = document;
  const scrollers = [...document.querySelectorAll("*")].filter((element) => {
    const { overflowX } = getComputedStyle(element);
    return (overflowX === "auto" || overflowX === "scroll") && element.scrollWidth > element.clientWidth;
  });
  return [
    ...(root.scrollWidth > root.clientWidth ? [`the page by ${root.scrollWidth - root.clientWidth}`] : []),
    ...scrollers
      .filter((element) => element !== root && !element.matches(".log, .call-lines, .body, pre, textarea"))
      .map((element) => element.outerHTML.slice(0, 120)),
  ];
}
