import { expect, test } from "vitest";

import { IssuerUnavailableError } from "../../../../runtime/core/ports/issuer-documents.ts";

test("an issuer that did not reply is told apart in a log by the name of its error", () => {
  expect(String(new IssuerUnavailableError("Cannot read it"))).toBe("IssuerUnavailableError: Cannot read it");
});
