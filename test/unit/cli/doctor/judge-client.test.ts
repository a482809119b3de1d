import { describe, expect, test } from "vitest";

import { apiVersion } from "../../../../runtime/api/version.ts";
import {
  judgeCertificate,
  judgeClock,
  judgeFiles,
  judgeVersion,
  trustAdvice,
} from "../../../../runtime/cli/doctor/judge-client.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const day = 24 * 3_600_000;

test.each([
  [14, "ok"],
  [13.9, "warning"],
  [0.5, "warning"],
])("a certificate that is valid for %d more days is %s", (days, level) => {
  expect(judgeCertificate("certificate", now + days * day, now)).toMatchObject({ id: "tls", level });
});

test.each([
  [1.5, "for 1 more day"],
  [2.5, "for 2 more days"],
])("of %d more days the whole ones are said", (days, words) => {
  expect(judgeCertificate("certificate", now + days * day, now).sentence).toBe(
    `Its certificate is valid until ${new Date(now + days * day).toISOString().slice(0, 10)}, ${words}`,
  );
});

test.each([
  ["CERT_HAS_EXPIRED", "renew it"],
  ["CERT_NOT_YET_VALID", "set the clocks of this machine and of whoever issued it"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "correct --gateway, or issue it for this name"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "name a file with its authority with --ca-file, or renew it"],
])("what to do about a certificate of %s is said", (code, advice) => {
  expect(trustAdvice(Object.assign(new Error("no"), { code }))).toBe(advice);
});

test("a certificate without a date is trusted without one", () => {
  expect(judgeCertificate("certificate", Number.NaN, now)).toMatchObject({ level: "ok" });
});

describe("the clock", () => {
  const header = (offset: number): string => new Date(now + offset).toUTCString();

  test.each([
    ["the same", 0, 100, "ok", "agree"],
    ["30 s behind", 30_000, 100, "ok", "agree"],
    ["40 s behind", 40_000, 100, "problem", "40 s behind the gateway's, over the 30 s that tokens tolerate"],
    ["40 s ahead", -41_000, 100, "problem", "40 s ahead of"],
    ["perhaps 35 s behind, of a reply that took a minute", 35_000, 60_000, "ok", "agree"],
    ["at most 30 s ahead, as a header has whole seconds", -31_000, 100, "ok", "agree"],
  ])("%s", (_name, offset, took, level, words) => {
    const found = judgeClock(header(offset), now, now + took);
    expect(found).toMatchObject({ id: "clock", level, sentence: expect.stringContaining(words) });
  });

  test.each([undefined, "", "soon"])("of a reply with Date %s is not known", (date) => {
    expect(judgeClock(date, now, now)).toBeUndefined();
  });
});

test.each([
  [apiVersion, "ok"],
  [`${apiVersion.split(".", 1)[0]}.99`, "ok"],
  ["99.0", "problem"],
  [undefined, "warning"],
])("a gateway with API %s is %s", (version, level) => {
  expect(judgeVersion(version)).toMatchObject({ id: "versions", level });
});

test("only files that others can read are named", () => {
  expect(judgeFiles([])).toMatchObject([{ level: "ok" }]);
  expect(judgeFiles([{ path: "/a", mode: 0o600 }])).toMatchObject([{ level: "ok" }]);
  const found = judgeFiles([
    { path: "/a", mode: 0o600 },
    { path: "/b", mode: 0o640 },
    { path: "/c", mode: 0o604 },
  ]);
  const sentence = (mode: string) => `It holds a secret, and its mode is ${mode}: expected 600, for its owner alone`;
  expect(found).toEqual([
    { id: "files", level: "problem", subject: "file /b", sentence: sentence("640"), advice: "chmod 600 /b" },
    { id: "files", level: "problem", subject: "file /c", sentence: sentence("604"), advice: "chmod 600 /c" },
  ]);
});
