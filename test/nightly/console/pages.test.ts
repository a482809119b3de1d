import { describe } from "vitest";

import { chromiumProgram } from "../../support/headless-browser.ts";
import { judgeAllPages } from "../../support/console/matrix.ts";
import { say } from "../../support/say.ts";

/** Every page in every state: axe, its width and a screenshot; the nightly run looks at it in the other two ways. */
const program = chromiumProgram(say);

describe.skipIf(program === undefined)("pages of the console", () => {
  judgeAllPages(program ?? "", [
    { theme: "light", width: 1280 },
    { theme: "dark", width: 360 },
  ]);
});
