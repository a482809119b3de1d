import { describe } from "vitest";

import { judgeAllPages } from "../support/console/matrix.ts";
import { chromiumProgram } from "../support/headless-browser.ts";
import { say } from "../support/say.ts";

/** Every page in every state in the looks that the first tier leaves out, and as at 400 % zoom. */
const program = chromiumProgram(say);

describe.skipIf(program === undefined)("pages of the console", () => {
  judgeAllPages(program ?? "", [
    { theme: "dark", width: 1280 },
    { theme: "light", width: 360 },
    { theme: "light", width: 320 },
  ]);
});
