import { eventually } from "./eventually.ts";
import type { DevTools, DevToolsFields } from "./headless-browser-devtools.ts";

interface Evaluated {
  readonly result?: { readonly value?: unknown };
  readonly exceptionDetails?: { readonly text?: string; readonly exception?: { readonly description?: string } };
}

/** A page of a browser, used as a person does: by address, keyboard and mouse. */
export class BrowserPage {
  readonly #tools: DevTools;
  readonly #session: string;

  private constructor(tools: DevTools, session: string) {
    this.#tools = tools;
    this.#session = session;
  }

  static async open(tools: DevTools): Promise<BrowserPage> {
    const { browserContextId } = await tools.send("Target.createBrowserContext");
    const { targetId } = await tools.send("Target.createTarget", { url: "about:blank", browserContextId });
    const { sessionId } = await tools.send("Target.attachToTarget", { targetId, flatten: true });
    return new BrowserPage(tools, String(sessionId));
  }

  /** Goes to an address as if it were typed in. */
  async visit(url: string): Promise<void> {
    const { errorText } = await this.#send("Page.navigate", { url });
    if (typeof errorText === "string") throw new Error(`Cannot visit ${url}: ${errorText}`);
  }

  /** The value of an expression, or of what it promises. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = (await this.#send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as Evaluated;
    if (exceptionDetails === undefined) return result?.value;
    throw new Error(`Cannot evaluate: ${exceptionDetails.exception?.description ?? exceptionDetails.text ?? ""}`);
  }

  /** What the page shows. */
  async text(): Promise<string> {
    return String(await this.evaluate("document.body.innerText"));
  }

  /** Types into the field that the selector finds, once it is there. */
  async fill(selector: string, text: string): Promise<void> {
    await this.click(selector);
    await this.#send("Input.insertText", { text });
    await eventually(
      async () => (await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).value`)) === text,
      { what: `the text in ${selector}` },
    );
  }

  /** Clicks on the middle of what the selector finds, once it is there. */
  async click(selector: string): Promise<void> {
    const [x, y] = await eventually(() => this.#middleOf(selector), { what: `${selector} in the page` });
    for (const type of ["mousePressed", "mouseReleased"])
      await this.#send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }

  /** Resolves with the address once the pattern matches it and the page is complete. */
  async arrival(pattern: RegExp): Promise<string> {
    const seen = async (): Promise<string | undefined> => {
      const found = String(await this.evaluate("document.readyState === 'complete' ? location.href : ''"));
      return pattern.test(found) ? found : undefined;
    };
    try {
      return await eventually(seen, { what: `a page at ${pattern}` });
    } catch (cause) {
      const shown = await this.evaluate("`${location.href}\\n${document.body.innerText}`").catch(String);
      throw new Error(`${String(cause)}\nThe page is ${String(shown)}`, { cause });
    }
  }

  async #middleOf(selector: string): Promise<readonly [x: number, y: number] | undefined> {
    const found = await this.evaluate(`(() => {
      if (document.readyState !== "complete") return undefined;
      const found = document.querySelector(${JSON.stringify(selector)});
      found?.scrollIntoView({ block: "center", behavior: "instant" });
      const { x, y, width, height } = found?.getBoundingClientRect() ?? {};
      return width > 0 && height > 0 ? [x + width / 2, y + height / 2] : undefined;
    })()`);
    return found as readonly [number, number] | undefined;
  }

  #send(method: string, params: DevToolsFields): Promise<DevToolsFields> {
    return this.#tools.send(method, params, this.#session);
  }
}
