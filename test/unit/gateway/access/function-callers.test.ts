import { expect, test } from "vitest";

import { buildRuleSet, type AccessDocument } from "../../../../runtime/core/access/build-rule-set.ts";
import type { BasicAuth } from "../../../../runtime/gateway/access/basic-auth.ts";
import { FunctionCallers } from "../../../../runtime/gateway/access/function-callers.ts";
import { TokenHolders } from "../../../../runtime/gateway/access/token-holders.ts";
import { openOwnKeys } from "../../../../runtime/gateway/access/tokens/own-keys.ts";
import { PlatformError } from "../../../../runtime/api/platform-error.ts";
import { newKeyPem, writeKeyFiles } from "../../../support/key-files.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const subjectIssuer = "https://issuer.example";
const pay = { namespace: "dev", name: "pay" };
const shop = { namespace: "dev", name: "shop" };
const start = 1_700_000_000_000;
const documents: readonly AccessDocument[] = [
  { kind: "JwtIssuer", name: "i", spec: { iss: subjectIssuer, aud: ["weir"] } },
  {
    kind: "Policy",
    name: "p",
    spec: { statement: [{ sid: "s", effect: "Allow", action: ["Function:Invoke"], resource: ["dev:*"] }] },
  },
  { kind: "Role", name: "r", spec: { policy: ["p"] } },
];
const refuse = (): never => {
  throw new PlatformError("credentials_invalid", "Cannot answer this request: its credentials are wrong");
};

/** Callers of a gateway with real keys, a clock that stands still, and the addresses that passwords are counted by. */
async function open() {
  const directory = await tempDirectory("callers");
  await writeKeyFiles(directory.path, newKeyPem());
  const state = { now: start, rules: buildRuleSet(documents) };
  const keys = openOwnKeys({ directory: directory.path, issuer: "https://weir.example", now: () => state.now });
  const counted: string[] = [];
  const basic: BasicAuth = {
    via: "basic",
    credentials: undefined,
    check: refuse,
    checkCall: (_, address) => void counted.push(address),
    checkPassword: refuse,
    refuse,
    namesPlatformUser: () => false,
  };
  const callers = new FunctionCallers(basic, new TokenHolders(keys.reader, () => state.rules));
  const sign = async (kind: "api" | "function", more: object = {}): Promise<string> => {
    const claims = { sub: "fed:alice", "fed:iss": subjectIssuer, policy: ["p"], ...more };
    const issuedAt = start / 1_000;
    return `Bearer ${await keys.sign(kind, claims, { issuedAt, expiresAt: issuedAt + 60 })}`;
  };
  /** The subject of the caller, or the code of the refusal. */
  const call = async (authorization: string, ref = pay): Promise<string> => {
    const token = await callers.readToken(authorization);
    try {
      return callers.authorise({ authorization, token, client: "10.0.0.1" }, ref).subject;
    } catch (err) {
      if (err instanceof PlatformError) return err.code;
      throw err;
    }
  };
  return { state, callers, counted, directory, sign, call, [Symbol.asyncDispose]: () => directory.remove() };
}

test("a caller whose role is withdrawn between two calls is refused at the second", async () => {
  await using opened = await open();
  const alice = await opened.sign("api");
  for (let count = 0; count < 3; count += 1) expect(await opened.call(alice)).toBe("fed:alice");
  opened.state.rules = buildRuleSet(documents.slice(0, 2));
  expect(await opened.call(alice)).toBe("forbidden");
  opened.state.rules = buildRuleSet(documents);
  expect(await opened.call(alice)).toBe("fed:alice");
  opened.state.rules = buildRuleSet(documents.slice(1));
  expect(await opened.call(alice)).toBe("forbidden");
});

test("a caller whose token ends between two calls is refused at the second", async () => {
  await using opened = await open();
  const alice = await opened.sign("api");
  for (let count = 0; count < 3; count += 1) expect(await opened.call(alice)).toBe("fed:alice");
  opened.state.now += 90_000;
  expect(await opened.call(alice)).toBe("credentials_invalid");
});

test("a caller whose token's key is dropped between two calls is refused at the second", async () => {
  await using opened = await open();
  const alice = await opened.sign("api");
  for (let count = 0; count < 3; count += 1) expect(await opened.call(alice)).toBe("fed:alice");
  await writeKeyFiles(opened.directory.path, newKeyPem());
  opened.state.now += 1_000;
  expect(await opened.call(alice)).toBe("credentials_invalid");
});

test("what was allowed for one function, token or kind of token is not for another", async () => {
  await using opened = await open();
  const [api, narrow] = [
    await opened.sign("api"),
    await opened.sign("function", { function: { permissions: ["dev:pay"], audience: [] } }),
  ];
  const none = await opened.sign("api", { policy: [] });
  for (let count = 0; count < 2; count += 1) {
    expect(await opened.call(api, shop)).toBe("fed:alice");
    expect(await opened.call(api, { namespace: "prod", name: "shop" })).toBe("forbidden");
    expect(await opened.call(narrow, pay)).toBe("fed:alice");
    expect(await opened.call(narrow, shop)).toBe("forbidden");
    expect(await opened.call(none, pay)).toBe("forbidden");
  }
});

test("the address of a client is asked for only where passwords are counted by it", async () => {
  await using opened = await open();
  const alice = await opened.sign("api");
  const token = await opened.callers.readToken(alice);
  const asked: string[] = [];
  const withAddress = (authorization: string, own: typeof token) => ({
    authorization,
    token: own,
    get client(): string {
      asked.push(authorization);
      return "10.0.0.1";
    },
  });
  expect(opened.callers.authorise(withAddress(alice, token), pay).subject).toBe("fed:alice");
  expect(() => opened.callers.authorise(withAddress("Bearer wrong", undefined), pay)).toThrow("credentials are wrong");
  expect(asked).toEqual([]);
  expect(opened.callers.authorise(withAddress("Basic right", undefined), pay).subject).toBe("admin");
  expect([asked, opened.counted]).toEqual([["Basic right"], ["10.0.0.1"]]);
});
