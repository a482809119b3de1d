import { expect, test } from "vitest";

import { platformCallbackRules } from "../../../../runtime/core/callbacks/platform-callback-rules.ts";

const facts = {
  platformNamespace: "weir",
  clusterGatewayUrl: "http://edge.example:80",
  publicUrls: ["https://weir.example"],
  callbackPolicy: "public",
  callbackAllow: ["10.0.0.0/8"],
  platformPorts: [4_222, 8_222],
  engine: "tcp://127.0.0.1:2999",
  ownAddresses: () => ["192.0.2.7"],
  gatewayPorts: [8_080],
  isReplica: () => false,
} as const;

test("the ports of the platform and of the engine are closed, the gateway's own origins open", () => {
  expect(platformCallbackRules(facts)).toEqual({
    policy: "public",
    allow: ["10.0.0.0/8"],
    gatewayOrigins: [
      "http://edge.example",
      "http://gateway.weir:8080",
      "http://gateway.weir.svc.cluster.local:8080",
      "http://gateway.weir.svc.cluster.local.:8080",
      "https://weir.example",
    ],
    closedPorts: [4_222, 8_222, 2_375, 2_376, 2_999],
    gatewayPorts: [8_080],
    ownAddresses: facts.ownAddresses,
    isReplica: facts.isReplica,
  });
});

test("the default ports of an engine are closed without one, too", () => {
  expect(platformCallbackRules({ ...facts, engine: undefined }).closedPorts).toEqual([4_222, 8_222, 2_375, 2_376]);
});
