import { expect, test } from "vitest";

import { importUsableKeys, keyFor } from "../../../../../runtime/gateway/access/tokens/usable-keys.ts";
import { tokenKey } from "../../../../support/token-keys.ts";

const es = await tokenKey("ES256", "one");
const rs = await tokenKey("RS256", "one");
const ed = await tokenKey("EdDSA", "two");
const header = (alg: "ES256" | "RS256" | "PS256" | "EdDSA", kid?: string) => ({ alg, kid, typ: undefined });

/** A point that is not on the curve. */
function besideCurve(): object {
  const y = Buffer.from(es.jwk.y ?? "", "base64url");
  y[0] = (y[0] ?? 0) ^ 1;
  return { ...es.jwk, y: y.toString("base64url") };
}

test("unusable keys are ignored, and the others are used", async () => {
  const odd = [besideCurve(), { ...ed.jwk, x: "AAAA" }, { ...rs.jwk, n: "AA" }, { ...es.jwk, kid: 1 }, null, "key", {}];
  expect(await importUsableKeys(odd)).toEqual([]);
  const keys = await importUsableKeys([...odd, es.jwk, ed.jwk]);
  expect(keys.map(({ kid, byAlgorithm }) => [kid, ...byAlgorithm.keys()])).toEqual([
    ["one", "ES256"],
    ["two", "EdDSA"],
  ]);
});

test("a key is chosen by kid, and its own algorithm decides", async () => {
  const keys = await importUsableKeys([es.jwk, rs.jwk, ed.jwk]);
  expect(keyFor(keys, header("ES256", "one"))?.algorithm.name).toBe("ECDSA");
  expect(keyFor(keys, header("RS256", "one"))?.algorithm.name).toBe("RSASSA-PKCS1-v1_5");
  for (const none of [
    header("PS256", "one"),
    header("ES256", "two"),
    header("ES256", "../../key"),
    header("ES256", "__proto__"),
    header("ES256", ""),
    header("ES256"),
  ]) {
    expect([none, keyFor(keys, none)]).toEqual([none, undefined]);
  }
});

test("without kid only the one key of a set is taken", async () => {
  const { kid: _kid, alg: _alg, ...bare } = rs.jwk;
  const alone = await importUsableKeys([bare, { ...es.jwk, use: "enc" }]);
  expect(keyFor(alone, header("RS256"))?.algorithm.name).toBe("RSASSA-PKCS1-v1_5");
  expect(keyFor(alone, header("PS256"))?.algorithm.name).toBe("RSA-PSS");
  expect(keyFor(alone, header("ES256"))).toBeUndefined();
  expect(keyFor(alone, header("RS256", "one"))).toBeUndefined();
  expect(keyFor(await importUsableKeys([bare, es.jwk]), header("RS256"))).toBeUndefined();
});

test("of two keys that fit none is taken", async () => {
  const keys = await importUsableKeys([es.jwk, { ...(await tokenKey()).jwk, kid: "one" }]);
  expect(keyFor(keys, header("ES256", "one"))).toBeUndefined();
});
