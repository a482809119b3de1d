import { describe, expect, test } from "vitest";

import { noGrants, type Grants } from "../../../../runtime/core/access/grants.ts";
import { administrator, permitted, permittedWithin, tokenHolder } from "../../../../runtime/core/access/principal.ts";

const issued = {
  iss: "https://weir.example",
  sub: "fed:alice",
  aud: "weir",
  exp: 1_900_000_000,
  "fed:iss": "https://issuer.example",
  "fed:aud": ["cli"],
  groups: ["dev"],
};
const grants: Grants = {
  ...noGrants,
  allowed: [{ role: "team", policy: "look", sid: "s", actions: ["Function:List"], resources: ["dev:*"] }],
};
const request = { action: "Function:List", resource: "dev:pay" };

test.each(["basic", "session", "open"] as const)("the administrator by %s may do everything, anywhere", (via) => {
  const admin = administrator(via);
  expect(admin).toEqual({
    via,
    subject: "admin",
    issuer: undefined,
    claims: {},
    grants: "everything",
    expiresAt: undefined,
  });
  expect(permitted(admin, request)).toEqual({
    allowed: true,
    by: { role: "administrator", policy: "*", sid: "*" },
  });
  expect(permittedWithin(admin, "Secret:Delete", "prod")).toBe(true);
});

describe("the holder of a token", () => {
  test("has its subject as the platform names it, and the claims that its issuer wrote", () => {
    expect(tokenHolder(issued, grants)).toEqual({
      via: "token",
      subject: "fed:alice",
      issuer: "https://issuer.example",
      claims: { sub: "alice", iss: "https://issuer.example", aud: ["cli"], groups: ["dev"] },
      grants,
      expiresAt: 1_900_000_000_000,
    });
  });

  test("of a token without subject, issuer and end has none of them", () => {
    expect(tokenHolder({ exp: "1900000000" }, grants)).toMatchObject({
      subject: "",
      issuer: undefined,
      expiresAt: undefined,
    });
  });

  test("may do what its grants allow, and no more", () => {
    const holder = tokenHolder(issued, grants);
    expect(permitted(holder, request)).toMatchObject({ allowed: true, by: { role: "team" } });
    expect(permitted(holder, { ...request, resource: "prod:pay" })).toMatchObject({ allowed: false });
    expect(permittedWithin(holder, "Function:List", "dev")).toBe(true);
    expect(permittedWithin(holder, "Function:List", "prod")).toBe(false);
    expect(permittedWithin(tokenHolder(issued, noGrants), "Function:List", "dev")).toBe(false);
  });
});
