import { judgeAllPages } from "../../support/console/matrix.ts";

/** Every page in every state: axe, its width and a screenshot; the nightly run looks at it in the other two ways. */
judgeAllPages([
  { theme: "light", width: 1280 },
  { theme: "dark", width: 360 },
]);
