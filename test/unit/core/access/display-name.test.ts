import { expect, test } from "vitest";

import { displayName, usualNameClaims } from "../../../../runtime/core/access/display-name.ts";
import { jwtIssuer, rulesOf } from "../../../support/access-documents.ts";

const named = (claims: Record<string, unknown>, nameClaims: readonly string[] = usualNameClaims) =>
  displayName({ sub: "aa3e33b5-6c1d-4c0a-9d4c-8a2a1f0f2a11", ...claims }, { nameClaims });

test.each<[claims: Record<string, unknown>, name: string | undefined]>([
  [{}, undefined],
  [{ name: "Alice Doe", email: "alice@example.com", preferred_username: "alice" }, "alice"],
  [{ name: "Alice Doe", email: "alice@example.com" }, "alice@example.com"],
  [{ name: "Alice Doe", preferred_username: " ", email: 7 }, "7"],
  [{ preferred_username: { nested: "alice" }, name: "Alice Doe" }, "Alice Doe"],
  [{ preferred_username: "al\u001b[31mice\n" }, "alice"],
  [{ preferred_username: "x".repeat(200) }, `${"x".repeat(127)}…`],
])("claims %j name %j", (claims, name) => {
  expect(named(claims)).toBe(name);
});

test("a JwtIssuer chooses its claim, and no other counts then", () => {
  const { issuers } = rulesOf(jwtIssuer("idp", { iss: "https://idp.example", aud: ["weir"], nameClaim: "upn" }));
  const { nameClaims } = issuers.get("https://idp.example") ?? { nameClaims: [] };
  expect(named({ upn: "alice@corp", email: "alice@example.com" }, nameClaims)).toBe("alice@corp");
  expect(named({ email: "alice@example.com" }, nameClaims)).toBeUndefined();
});
