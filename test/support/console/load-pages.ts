import type { Page, Request, Response } from "playwright-core";

/**
 * Chromium drops whatever it loads, from this machine too, when an address of the machine comes or goes, and containers
 * of other tests make that happen at any time.
 */
const dropped = "net::ERR_NETWORK_CHANGED";
const maxLoads = 10;

/** From now on `goto` and `reload` load a document again if Chromium dropped it, or a file that it needs. */
export function loadPagesWhole(page: Page): void {
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)];
  page.goto = (...args) => loadWhole(page, () => goto(...args));
  page.reload = (...args) => loadWhole(page, () => reload(...args));
}

async function loadWhole(page: Page, load: () => Promise<Response | null>): Promise<Response | null> {
  for (let loads = 1; ; loads++) {
    let isWhole = true;
    const note = (request: Request): void => {
      if (request.failure()?.errorText === dropped) isWhole = false;
    };
    page.on("requestfailed", note);
    try {
      const response = await load();
      if (isWhole || loads === maxLoads) return response;
    } catch (err) {
      if (loads === maxLoads || !String(err).includes(dropped)) throw err;
    } finally {
      page.off("requestfailed", note);
    }
  }
}
