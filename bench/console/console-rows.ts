import type { BenchRow } from "../bench-row.ts";
import { c1Sizes } from "./c1-sizes.ts";
import { c2FirstPage } from "./c2-first-page.ts";
import { c3ManyFunctions } from "./c3-many-functions.ts";
import { c4Drawings } from "./c4-drawings.ts";
import { c4Logs } from "./c4-logs.ts";
import { c5ChangeShown } from "./c5-change-shown.ts";
import { c6OpenPages } from "./c6-open-pages.ts";

/** What the console takes, in the browser and of the gateway. */
export const consoleRows: readonly BenchRow[] = [
  ...c1Sizes,
  ...c2FirstPage,
  ...c3ManyFunctions,
  ...c4Logs,
  ...c4Drawings,
  c5ChangeShown,
  ...c6OpenPages,
];
