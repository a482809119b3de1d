import { describe, expect, test } from "vitest";

import { CliError } from "../../../../runtime/cli/cli-error.ts";
import { decideGateway, type GatewayState } from "../../../../runtime/cli/dev/gateway/decide-gateway.ts";

const refusal = new CliError(4, "Cannot do this: credentials are required");
const state = (address: string, source: string, more: Partial<GatewayState> = {}): GatewayState => ({
  gateway: { address, source },
  byContextFlag: false,
  listens: false,
  refusal: undefined,
  ...more,
});
const here = "http://127.0.0.1:8080";

describe("which gateway is developed on", () => {
  test.each(["the default", ".weir/address", "weir.yaml", "--gateway"])("one of %s that answers", (source) => {
    expect(decideGateway(state(here, source, { listens: true }))).toEqual({ kind: "use" });
  });

  test.each(["the default", ".weir/address"])("a new one at any port, if %s leads to none of ours", (source) => {
    const started = { kind: "start", host: "127.0.0.1", port: undefined };
    expect(decideGateway(state(here, source))).toEqual(started);
    expect(decideGateway(state(here, source, { listens: true, refusal }))).toEqual(started);
  });

  test.each([
    ["http://127.0.0.1:9000", "127.0.0.1", 9000],
    ["http://localhost:9000", "127.0.0.1", 9000],
    ["http://localhost", "127.0.0.1", 80],
    ["http://[::1]:9000", "::1", 9000],
  ])("a new one at %s, if that is named and nothing listens there", (address, host, port) => {
    expect(decideGateway(state(address, "weir.yaml"))).toEqual({ kind: "start", host, port });
  });

  test("none, if the named one refuses", () => {
    expect(() => decideGateway(state(here, "--gateway", { listens: true, refusal }))).toThrow(refusal);
  });

  test.each(["https://localhost:8443", "http://127.0.0.1:8080/weir"])("none, if %s cannot be started", (address) => {
    expect(() => decideGateway(state(address, "--gateway"))).toThrow(
      expect.objectContaining({
        exit: 5,
        message: expect.stringContaining(`Cannot develop on "${address}" of --gateway: `) as string,
      }),
    );
  });

  test("one of another machine only by --context", () => {
    const address = "https://weir.example.com";
    expect(() => decideGateway(state(address, 'context "prod"'))).toThrow(
      expect.objectContaining({
        exit: 2,
        message: `Cannot develop on "${address}": each save would deploy to it; say so with --context`,
      }),
    );
    expect(decideGateway(state(address, 'context "prod"', { byContextFlag: true }))).toEqual({ kind: "use" });
  });
});
