import { expect, test } from "vitest";

import { isOwnToken } from "../../../../../runtime/core/access/own-token.ts";
import { claimsFault } from "../../../../../runtime/core/access/tokens/claims-fault.ts";
import {
  workloadAudience,
  workloadClaims,
  workloadIssuer,
  workloadRenewal,
  workloadTokenType,
} from "../../../../../runtime/core/access/tokens/workload-claims.ts";
import { tokenPart } from "../../../../support/token-keys.ts";

const ref = { namespace: "dev", name: "pay" };
const now = 1_790_000_000_500;

test("a token is of the function, for the exchange alone, and for an hour", () => {
  expect(workloadClaims(ref, "https://weir.example", now)).toEqual({
    iss: "https://weir.example/workload",
    aud: "https://weir.example/oauth/token",
    sub: "function:dev:pay",
    iat: 1_790_000_000,
    exp: 1_790_003_600,
  });
});

test("it is replaced at half its time, when it is good for as long again", () => {
  const claims = workloadClaims(ref, "https://weir.example", now);
  const renewal = workloadRenewal(now);
  expect(renewal - now).toBe(1_800_000);
  expect(claimsFault(claims, renewal)).toBeUndefined();
  expect(claimsFault(claims, renewal + 1_799_000)).toBeUndefined();
  expect(claimsFault(claims, now + 3_631_000)).toBe("it has expired");
});

test("slashes at the end of the issuer's name count for nothing", () => {
  expect(workloadIssuer("https://weir.example/")).toBe("https://weir.example/workload");
  expect(workloadIssuer("https://weir.example//")).toBe("https://weir.example/workload");
  expect(workloadAudience("https://weir.example/a/")).toBe("https://weir.example/a/oauth/token");
});

test("its type alone shows that it is the platform's own, so that functions do not get it", () => {
  expect(isOwnToken(`Bearer ${tokenPart({ typ: workloadTokenType })}.${tokenPart({})}.c2ln`, undefined)).toBe(true);
});
