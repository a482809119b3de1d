import { Readable } from "node:stream";

import { describe, expect, test } from "vitest";

import { CliError, type CliErrorOptions } from "../../../../runtime/cli/cli-error.ts";
import { examineGateway } from "../../../../runtime/cli/doctor/examine-gateway.ts";
import { exitCode, type ExitCode } from "../../../../runtime/cli/exit-code.ts";

const finding = { id: "broker", level: "ok", subject: "broker", sentence: "It replies" };
const info = JSON.stringify({ provider: { orchestration: "docker" } });

/** A client whose gateway replies to `/system/info` with `text`, and to `/system/doctor` with `report` or an error. */
function clientOf(report: unknown, text = info): Parameters<typeof examineGateway>[0] {
  return {
    address: "http://127.0.0.1:8080",
    send: async () => ({ status: 200, headers: { "x-api-version": "1.0" }, body: Readable.from([Buffer.from(text)]) }),
    json: async <T>() => {
      if (report instanceof Error) throw report;
      return report as T;
    },
  };
}
const refused = (exit: ExitCode, options: CliErrorOptions = {}) => new CliError(exit, "Cannot do it: no", options);

test("the report, the version and how functions run", async () => {
  const report = { checkedAt: "2026-01-31T12:00:00.000Z", parts: [], findings: [finding] };
  const side = await examineGateway(clientOf(report));
  expect(side).toMatchObject({ report, orchestration: "docker", findings: [{ id: "versions", level: "ok" }] });
});

describe("a gateway that gives no report", () => {
  test.each([
    ["as it is older: a warning", refused(exitCode.notFound, { code: "route_not_found" }), ["doctor", "warning"]],
    ["without the right: a problem of credentials", refused(exitCode.credentials), ["credentials", "problem"]],
    ["for any other reason: a problem", refused(exitCode.notFound, { code: "x" }), ["doctor", "problem"]],
    ["but something else: a problem", { findings: "none" }, ["doctor", "problem"]],
    ["but nothing: a problem", undefined, ["doctor", "problem"]],
  ])("%s", async (_name, reply, expected) => {
    const { findings, report } = await examineGateway(clientOf(reply));
    expect(report).toBeUndefined();
    expect(findings.slice(1).map(({ id, level }) => [id, level])).toEqual([expected]);
  });

  test("because of Ctrl-C ends the command", async () => {
    await expect(examineGateway(clientOf(refused(exitCode.interrupted)))).rejects.toThrow("Cannot do it");
  });
});

test("what has not the form of a finding, or of an info, is left out", async () => {
  const findings = [null, 1, { ...finding, subject: 7 }, { ...finding, advice: {} }, finding];
  const side = await examineGateway(clientOf({ findings, parts: "x" }, "<html>"));
  expect(side.report).toMatchObject({ parts: [], findings: [finding] });
  expect(side.orchestration).toBeUndefined();
});
