import { afterEach, expect, test } from "vitest";

import { openGatewayClients } from "../../../runtime/adapters/http/open-gateway-clients.ts";
import { gatewaySettings, historyPlace } from "../../../runtime/gateway/settings.ts";
import { readSettings } from "../../../runtime/settings/read-settings.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const clients of opened.splice(0)) await clients.close();
});

const placeOf = (environment: Readonly<Record<string, string>>) =>
  historyPlace(readSettings(gatewaySettings, { environment }));
const clientsOf = (environment: Readonly<Record<string, string>>) => {
  const clients = openGatewayClients(placeOf(environment));
  opened.push(clients);
  return clients;
};
const url = "http://history.weir.svc.cluster.local.:8083";

test("a gateway in its own process asks the history at its address, with the key beside its other credentials", () => {
  expect(placeOf({ history_url: url, secret_mount_path: "/var/secrets" })).toEqual({
    address: url,
    keyFile: "/var/secrets/history-key",
    keptLogs: true,
  });
});

test("without an address, or with the history off, it asks none", () => {
  for (const environment of [{}, { history_url: url, history: "false" }]) {
    expect(placeOf(environment)).toBeUndefined();
    expect(clientsOf(environment).history).toBeUndefined();
  }
});

test("it asks for log lines only if they are kept", () => {
  expect(clientsOf({ history_url: url }).history?.logs).toBeDefined();
  expect(clientsOf({ history_url: url, kept_logs: "false" }).history?.logs).toBeUndefined();
});

test("a history that is away is unavailable, and closing ends what was asked", async () => {
  const { history } = clientsOf({ history_url: "http://127.0.0.1:1", secret_mount_path: "/nowhere" });
  await expect(history?.progress()).rejects.toMatchObject({ code: "history_unavailable" });
});
