import type { Locator, Page } from "playwright-core";

/** Most presses of Tab to come to something: more than any page needs. */
const mostTabs = 200;

/** A person who uses nothing but the keyboard. */
export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /**
   * Presses Tab until the focus is on what is meant, once that is there.
   * @throws Error with what had the focus on the way
   */
  async tabTo(target: Locator): Promise<void> {
    await target.waitFor();
    const passed: string[] = [];
    for (let tabs = 0; tabs <= mostTabs; tabs += 1) {
      if (await target.evaluate(hasFocus)) return;
      await this.#page.keyboard.press("Tab");
      passed.push(String(await this.#page.evaluate("document.activeElement?.outerHTML.slice(0, 80)")));
    }
    throw new Error(`Cannot come to ${String(target)} by the keyboard; passed ${[...new Set(passed)].join("\n")}`);
  }

  /** Comes to a link or button and presses it. */
  async activate(target: Locator): Promise<void> {
    await this.tabTo(target);
    await this.#page.keyboard.press("Enter");
  }

  /** Comes to a field and writes into it in place of what is there. */
  async write(target: Locator, text: string): Promise<void> {
    await this.tabTo(target);
    await this.#page.keyboard.press("ControlOrMeta+a");
    await this.#page.keyboard.type(text);
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key);
  }
}

/** Runs in the page. */
function hasFocus(element: { readonly ownerDocument: { readonly activeElement: unknown } }): boolean {
  return element === element.ownerDocument.activeElement;
}
