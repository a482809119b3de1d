import { describe, expect, test } from "vitest";

import { jwtIssuer, policy, role, rulesOf } from "../../../support/access-documents.ts";

describe("a trusted issuer", () => {
  const spec = { iss: "https://idp.example", aud: ["weir"] };
  const trusted = (over: object = {}) => rulesOf(jwtIssuer("idp", { ...spec, ...over })).issuers.get(spec.iss);

  test("is found by its iss, with what its document says", () => {
    const login = { clientId: "weir" };
    expect(trusted({ issInternal: "http://idp.auth.svc:8080", tokenExpiry: "5m", login })).toEqual({
      name: "idp",
      iss: "https://idp.example",
      audiences: ["weir"],
      internal: "http://idp.auth.svc:8080",
      tokenExpiry: 300_000,
      denied: [],
      nameClaims: ["preferred_username", "email", "name"],
      login,
    });
  });

  test("has tokens of 30 minutes unless its document says otherwise", () => {
    expect(trusted()?.tokenExpiry).toBe(1_800_000);
  });
});

describe("the version of a set of rules", () => {
  const documents = [
    jwtIssuer("idp", { iss: "https://idp.example", aud: ["weir"] }),
    policy("look", ["Function:List"], ["dev:*"]),
    role("team", ["look"]),
  ];
  const { version } = rulesOf(...documents);

  test("is a short text, the same for the same documents in another order", () => {
    expect(version).toMatch(/^[0-9a-f]{16}$/);
    expect(rulesOf(...documents.toReversed()).version).toBe(version);
  });

  test.each([
    ["an issuer", jwtIssuer("idp", { iss: "https://idp.example", aud: ["other"] })],
    ["a policy", policy("look", ["Function:List"], ["prod:*"])],
    ["a role", role("team", ["look"], { mode: "report" })],
  ])("changes with %s", (_name, changed) => {
    const others = documents.filter(({ kind }) => kind !== changed.kind);
    expect(rulesOf(...others, changed).version).not.toBe(version);
  });
});
