import { judgeAllPages } from "../support/console/matrix.ts";

/** Every page in every state in the looks that the first tier leaves out, and as narrow as at 400 % zoom. */
judgeAllPages([
  { theme: "dark", width: 1280 },
  { theme: "light", width: 360 },
  { theme: "light", width: 320 },
]);
