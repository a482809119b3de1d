import { expect, test } from "vitest";

import { readExchangeRequest } from "../../../../../runtime/gateway/access/tokens/exchange-request.ts";
import { TokenFault } from "../../../../../runtime/gateway/access/tokens/token-fault.ts";

const good = {
  grant_type: ["urn:ietf:params:oauth:grant-type:token-exchange"],
  subject_token: ["a.b.c"],
  subject_token_type: ["urn:ietf:params:oauth:token-type:id_token"],
};
function read(over: Readonly<Record<string, readonly string[]>>) {
  const fields = new Map<string, readonly string[]>(Object.entries({ ...good, ...over }));
  return readExchangeRequest({ kind: "form", fields });
}

test.each([
  ["an API token", {}, { subjectToken: "a.b.c", kind: "api", audiences: [] }],
  [
    "a JWT",
    { subject_token_type: ["urn:ietf:params:oauth:token-type:jwt"] },
    { subjectToken: "a.b.c", kind: "api", audiences: [] },
  ],
  ["a function token", { scope: ["function"] }, { subjectToken: "a.b.c", kind: "function", audiences: [] }],
  [
    "a scope twice in one field",
    { scope: ["function function"] },
    { subjectToken: "a.b.c", kind: "function", audiences: [] },
  ],
  [
    "audiences",
    { scope: ["function"], audience: ["dev:a", "", "dev:*"] },
    { subjectToken: "a.b.c", kind: "function", audiences: ["dev:a", "dev:*"] },
  ],
  [
    "empty and unknown fields",
    { scope: [""], audience: [""], client_id: ["x", "y"], resource: [""] },
    { subjectToken: "a.b.c", kind: "api", audiences: [] },
  ],
  [
    "the type that is issued",
    { requested_token_type: ["urn:ietf:params:oauth:token-type:access_token"] },
    { subjectToken: "a.b.c", kind: "api", audiences: [] },
  ],
])("a form asks for %s", (_name, over, wanted) => {
  expect(read(over)).toEqual(wanted);
});

test.each<[string, Readonly<Record<string, readonly string[]>>, string, string]>([
  ["no grant_type", { grant_type: [] }, "invalid_request", "field grant_type is missing"],
  ["an empty grant_type", { grant_type: [""] }, "invalid_request", "field grant_type is missing"],
  [
    "grant_type twice",
    { grant_type: [...good.grant_type, ...good.grant_type] },
    "invalid_request",
    "field grant_type is there twice",
  ],
  [
    "another grant_type",
    { grant_type: ["client_credentials"] },
    "unsupported_grant_type",
    `grant_type is not ${good.grant_type[0]}`,
  ],
  ["no subject_token", { subject_token: [] }, "invalid_request", "field subject_token is missing"],
  [
    "subject_token twice",
    { subject_token: ["a.b.c", "a.b.c"] },
    "invalid_request",
    "field subject_token is there twice",
  ],
  ["no subject_token_type", { subject_token_type: [] }, "invalid_request", "field subject_token_type is missing"],
  [
    "subject_token_type twice",
    { subject_token_type: ["a", "b"] },
    "invalid_request",
    "field subject_token_type is there twice",
  ],
  [
    "another subject_token_type",
    { subject_token_type: ["urn:ietf:params:oauth:token-type:saml2"] },
    "invalid_request",
    "subject_token_type is none of urn:ietf:params:oauth:token-type:id_token, urn:ietf:params:oauth:token-type:jwt",
  ],
  ["scope twice", { scope: ["function", "function"] }, "invalid_request", "field scope is there twice"],
  ["another scope", { scope: ["openid"] }, "invalid_scope", "scope is not function"],
  ["a further scope", { scope: ["function openid"] }, "invalid_scope", "scope is not function"],
  ["a scope in another case", { scope: ["Function"] }, "invalid_scope", "scope is not function"],
  ["an audience of an API token", { audience: ["dev:a"] }, "invalid_target", "audience is for scope function only"],
  ["an actor", { actor_token: ["a.b.c"] }, "invalid_request", "field actor_token is not supported"],
  ["a resource", { resource: ["https://x.example"] }, "invalid_request", "field resource is not supported"],
  [
    "another type to be issued",
    { requested_token_type: ["urn:ietf:params:oauth:token-type:refresh_token"] },
    "invalid_request",
    "requested_token_type is not urn:ietf:params:oauth:token-type:access_token",
  ],
])("a form with %s is refused", (_name, over, error, why) => {
  expect(() => read(over)).toThrow(expect.objectContaining({ error, message: `Cannot exchange token: ${why}` }));
});

test("a body that is no form is refused", () => {
  expect(() => readExchangeRequest({ kind: "unreadable", why: "expected a form" })).toThrow(
    expect.objectContaining({
      error: "invalid_request",
      message: "Cannot exchange token: its body is unreadable: expected a form",
    }),
  );
});

test("a description has only characters that RFC 6749 allows", () => {
  const { description } = new TokenFault("invalid_target", 'audience "a\\b\u00e9\n" is "odd"');
  expect(description).toBe("Cannot exchange token: audience 'a?b??' is 'odd'");
});
