import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

import { pythonPackages } from "../python-packages.ts";
import { checkDocument, schemathesisRequirements } from "./check-document.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
if (!Number.isInteger(seconds) || seconds < 1 || !Number.isInteger(seed)) {
  throw new Error("Cannot run schemathesis: --seconds and --seed are whole numbers");
}

const packages = await pythonPackages(schemathesisRequirements, console.log);
if (typeof packages === "string") {
  process.exitCode = 1;
} else {
  const { fits, output } = await checkDocument({ packages, seconds, seed });
  console.log(output);
  process.exitCode = fits ? 0 : 1;
}
