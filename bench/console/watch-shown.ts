import type { BrowserContext } from "playwright-core";

import { eventually } from "../../test/support/eventually.ts";

/** What has to stand on a page: at least `count` elements that a selector finds (1). */
export interface WantedElements {
  readonly selector: string;
  readonly count?: number;
}

const patience = 30_000;

/**
 * Watches all documents that a context loads from now on. The returned function does what leads to the wanted elements,
 * and resolves with the time at which the first frame with them was painted: milliseconds since the navigation of their
 * document, by its own clock.
 */
export async function watchShown(
  context: BrowserContext,
  wanted: WantedElements,
): Promise<(act: () => Promise<unknown>) => Promise<number>> {
  let shownAt: number | undefined;
  await context.exposeBinding("weirShown", (_source, at: number) => void (shownAt = at));
  await context.addInitScript({ content: programOf({ count: 1, ...wanted }) });
  return async (act) => {
    shownAt = undefined;
    await act();
    return await eventually(() => shownAt, { what: `${wanted.selector} on the screen`, within: patience });
  };
}

/** Runs in each document. A message that is sent before a frame is painted is heard after it. */
function programOf(wanted: Required<WantedElements>): string {
  return `(() => {
    const { selector, count } = ${JSON.stringify(wanted)};
    const look = () => {
      if (document.querySelectorAll(selector).length < count) return void requestAnimationFrame(look);
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => weirShown(performance.now());
      port2.postMessage(undefined);
    };
    requestAnimationFrame(look);
  })()`;
}
