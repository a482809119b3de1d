import { expect, test } from "vitest";

import { gatewayCommand } from "../../../../runtime/console/data/session/gateway-command.ts";

test("a command names the gateway, unless weir speaks to it by itself", () => {
  expect(gatewayCommand("weir queues list", "https://faas.example.com")).toBe(
    "weir queues list --gateway https://faas.example.com",
  );
  expect(gatewayCommand("weir queues list", "http://127.0.0.1:8080")).toBe("weir queues list");
  expect(gatewayCommand("weir queues list", "")).toBe("weir queues list");
});
