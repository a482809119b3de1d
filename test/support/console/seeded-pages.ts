import { beforeAll, test } from "vitest";

import type { OpenedConsole } from "./opened-console.ts";
import { seededCases, type PageCase } from "./page-cases.ts";
import { seedWeir } from "./seed-weir.ts";

/**
 * Makes a test of each page of a platform that has something of everything, which it makes first; of those in one state
 * if it is given.
 */
export function testSeededPages(
  opened: () => OpenedConsole,
  judge: (one: PageCase) => Promise<void>,
  wanted?: string,
): void {
  let cases: readonly PageCase[] = [];
  beforeAll(async () => {
    cases = seededCases(await seedWeir(opened().weir));
  });
  // Ids are known only when the tests run.
  const all = seededCases({ done: "{done}", failed: "{failed}" });
  test.each(all.filter(({ state }) => wanted === undefined || state === wanted))("$page, $state", ({ page, state }) => {
    const one = cases.find((each) => each.page === page && each.state === state);
    if (one === undefined) throw new Error(`there is no page ${page} in state ${state}`);
    return judge(one);
  });
}
