import { describe, expect, test } from "vitest";

import { noGrants } from "../../../../runtime/core/access/grants.ts";
import { administrator, tokenHolder } from "../../../../runtime/core/access/principal.ts";
import { policyActions } from "../../../../runtime/api/resources/iam-resources.ts";
import { AccessDenied, requireAccess } from "../../../../runtime/gateway/access/access-denied.ts";

const alice = tokenHolder({ sub: "fed:alice", "fed:iss": "https://issuer.example" }, noGrants);

describe("requireAccess()", () => {
  test.each([
    ["Function:Delete", "dev:pay", 'delete function "pay" in "dev"'],
    ["Function:Logs", "dev:pay", 'read the logs of function "pay" in "dev"'],
    ["Function:Invoke", "dev:pay", 'call function "pay" in "dev"'],
    ["Function:List", "dev:*", 'list functions in "dev"'],
    ["Secret:Create", "dev:*", 'create secrets in "dev"'],
    ["Namespace:Get", "dev:*", 'show namespace "dev"'],
    ["Namespace:List", "*", "list namespaces"],
    ["Queue:Redrive", "*", "redrive a call"],
    ["Call:Replay", "dev:pay", 'replay calls of function "pay" in "dev"'],
    ["System:Info", "*", "describe this platform"],
  ])("says that %s on %s is missing", (action, resource, does) => {
    expect(() => requireAccess(alice, { action, resource })).toThrow(
      `Cannot ${does}: fed:alice (https://issuer.example) has no policy that allows ${action} on ${resource}`,
    );
  });

  test("shows no control character of a name", () => {
    const odd = tokenHolder({ sub: "fed:a\u001b[31m\r\nb", "fed:iss": "https://issuer.example" }, noGrants);
    const { message } = new AccessDenied(odd, { action: "Function:Get", resource: "d\u001bv:pay" });
    expect(message).not.toMatch(/\p{Cc}/u);
  });

  test("allows the administrator every action", () => {
    for (const action of policyActions)
      expect(requireAccess(administrator("basic"), { action, resource: "dev:pay" }).role).toBe("administrator");
  });
});
