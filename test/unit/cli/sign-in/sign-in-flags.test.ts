import { expect, test } from "vitest";

import { openPretendedGateway } from "../../../support/pretended-gateway.ts";

const oneOf = "give one of --sso, --device, a password and a token";

test.each<readonly [readonly string[], string]>([
  [["--sso", "--device"], `Cannot use --sso with --device: ${oneOf}`],
  [["--device", "--user", "a"], `Cannot use --device with --user: ${oneOf}`],
  [["--sso", "--token-file", "a"], `Cannot use --sso with --token-file: ${oneOf}`],
  [["--issuer", "a"], "Cannot use --issuer: say --sso or --device, too"],
  [["--callback-port", "8000"], "Cannot use --callback-port: say --sso, too"],
  [["--device", "--callback-port", "8000"], "Cannot use --callback-port: say --sso, too"],
  [["--sso", "--callback-port", "0"], 'Cannot use --callback-port "0": it must be a port from 1 to 65535'],
  [["--sso", "--callback-port", "65536"], 'Cannot use --callback-port "65536": it must be a port from 1 to 65535'],
  [["--sso", "--callback-port", "a"], 'Cannot use --callback-port "a": it must be a port from 1 to 65535'],
])("weir login with %j sends nothing, and is exit code 2", async (args, sentence) => {
  await using gateway = await openPretendedGateway(() => ({}));
  expect(await gateway.run(["login", ...args])).toEqual({ code: 2, stdout: "", stderr: `${sentence}\n` });
  expect(gateway.requests).toEqual([]);
});

test.each<readonly [string, unknown, number, string]>([
  ["none", [], 4, "no JwtIssuer of this gateway has a login without clientSecretName"],
  ["one whose address is none", "nowhere", 5, 'Cannot use address "nowhere" of an issuer: it is not a URL'],
  [
    "one without TLS",
    "http://issuer.example/realm",
    5,
    'Cannot use address "http://issuer.example" of an issuer: expected https, or http of this machine',
  ],
])("a gateway that offers %s is no defect of the command", async (_, issuer, code, sentence) => {
  const offered = typeof issuer === "string" ? [{ name: "a", issuer, clientId: "weir", scopes: [] }] : issuer;
  await using gateway = await openPretendedGateway(() => ({
    json: { issuer: "https://weir.example", weir_sign_in: offered },
  }));
  const ended = await gateway.run(["login", "--sso"]);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(sentence)]);
});
