import { describe, expect, test } from "vitest";

import { pythonPackages } from "../../scripts/python-packages.ts";
import { checkDocument, schemathesisRequirements } from "../../scripts/schemathesis/check-document.ts";
import { say } from "../support/say.ts";

const packages = await pythonPackages(schemathesisRequirements, say);

describe.skipIf(typeof packages === "string")("schemathesis", () => {
  test("finds in 10 s no response that the document does not promise", async () => {
    if (typeof packages === "string") return;
    const { fits, cases, output } = await checkDocument({ packages, seconds: 10, seed: 1 });
    expect(fits, output).toBe(true);
    expect(cases).toBeGreaterThan(20);
  });
});
