import { expect, test } from "vitest";

import { gatewayPortRule, gatewayRules, gatewaySettings } from "../../../runtime/gateway/settings.ts";
import { collectSettings } from "../../../runtime/settings/read-settings.ts";

const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] =>
  collectSettings(gatewaySettings, { environment }, [...gatewayRules, gatewayPortRule]).problems;

test("there is no console unless it has a port of its own", () => {
  expect(collectSettings(gatewaySettings, {}, []).values).toMatchObject({
    consolePort: 0,
    consoleHost: undefined,
    consoleOrigins: [],
  });
  expect(problemsOf({ console_port: "8081" })).toEqual([]);
  expect(problemsOf({ console_port: "8080" })).toEqual(['console_port: expected another port than port, got "8080"']);
});

test("console_origins are https, or loopback", () => {
  const fine = "https://console.example.com,http://127.0.0.1:8081,http://localhost:8081,http://[::1]:8081";
  expect(problemsOf({ console_origins: fine })).toEqual([]);
  for (const origin of ["http://console.example.com", "http://10.0.0.1:8081", "http://localhost.example:8081"]) {
    expect(problemsOf({ console_origins: origin })).toEqual([
      `console_origins: Cannot serve the console on "${origin}": a session needs https`,
    ]);
  }
});
