import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { followLinks } from "../../../../runtime/console/data/address/follow-links.ts";
import type { PageAddress } from "../../../../runtime/console/data/address/page-address.ts";

/** A link as far as it is looked at. */
class LinkElement {
  readonly href: string;
  readonly target: string;
  readonly #attributes: readonly string[];

  constructor(href: string, { target = "", attributes = [] as readonly string[] } = {}) {
    this.href = href === "" ? "" : new URL(href, location.href).href;
    this.target = target;
    this.#attributes = attributes;
  }

  closest(): this {
    return this;
  }

  hasAttribute(name: string): boolean {
    return this.#attributes.includes(name);
  }
}

beforeEach(() => {
  vi.stubGlobal("Element", LinkElement);
  vi.stubGlobal("location", new URL("http://console:8081/ui/calls?state=failed"));
});
afterEach(() => void vi.unstubAllGlobals());

/** Clicks a link; resolves with where the page went, or undefined where the browser is left to it. */
function clicked(target: LinkElement | undefined, event: Partial<MouseEvent> = {}): string | undefined {
  const went: string[] = [];
  let click: (event: MouseEvent) => void = () => {};
  const root = { addEventListener: (_name: string, listener: typeof click) => (click = listener) };
  followLinks(root as unknown as HTMLElement, { go: (to: string) => went.push(to) } as unknown as PageAddress);
  let prevented = false;
  click({ button: 0, target, preventDefault: () => (prevented = true), ...event } as unknown as MouseEvent);
  expect(prevented).toBe(went.length === 1);
  return went[0];
}

test("a link to a page of the console changes the page", () => {
  expect(clicked(new LinkElement("/ui/f/dev/pay?call=1#line"))).toBe("/ui/f/dev/pay?call=1#line");
  expect(clicked(new LinkElement("/ui/calls"))).toBe("/ui/calls");
  expect(clicked(new LinkElement("/ui/calls?state=done#part"))).toBe("/ui/calls?state=done#part");
});

test.each([
  ["with Ctrl", "/ui/", { ctrlKey: true }],
  ["with Meta", "/ui/", { metaKey: true }],
  ["with Shift", "/ui/", { shiftKey: true }],
  ["with Alt", "/ui/", { altKey: true }],
  ["with another button", "/ui/", { button: 1 }],
  ["that was handled", "/ui/", { defaultPrevented: true }],
  ["to a part of this page", "/ui/calls?state=failed#part", {}],
  ["to a file of another path", "/openapi.json", {}],
  ["to a function", "/function/hello", {}],
  ["to another origin", "https://example.com/ui/", {}],
  ["to another port", "http://console:8080/ui/", {}],
  ["without an address", "", {}],
] as const)("a click %s is the browser's", (_what, href, event) => {
  expect(clicked(new LinkElement(href), event)).toBeUndefined();
});

test("a link for another window or for a download is the browser's, as is what is no link", () => {
  expect(clicked(new LinkElement("/ui/", { target: "_blank" }))).toBeUndefined();
  expect(clicked(new LinkElement("/ui/", { attributes: ["download"] }))).toBeUndefined();
  expect(clicked(undefined)).toBeUndefined();
});
