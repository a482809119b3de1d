import { expect, test } from "vitest";

import { desireFunction } from "../../../../runtime/core/functions/desired-function.ts";
import { functionEnvironment } from "../../../../runtime/core/functions/function-environment.ts";

const surroundings = { gatewayUrl: "http://127.0.0.1:8080", secretsDirectory: "/var/service/secrets", port: 8_080 };
const now = "2026-01-01T00:00:00.000Z";

test("has the names of the contract", () => {
  const wanted = desireFunction(undefined, "dev", { service: "hello", image: "x", envProcess: "cat" }, now);

  expect(functionEnvironment(wanted, surroundings)).toEqual({
    fprocess: "cat",
    OPENFAAS_NAME: "hello",
    OPENFAAS_NAMESPACE: "dev",
    SERVICE_NAME: "hello",
    SERVICE_NAMESPACE: "dev",
    GATEWAY_URL: "http://127.0.0.1:8080",
    SERVICE_SECRETS_DIR: "/var/service/secrets",
    PORT: "8080",
  });
});

test("a port that a replica gets when it starts is not there before", () => {
  const wanted = desireFunction(undefined, "dev", { service: "hello", image: "x" }, now);

  expect(functionEnvironment(wanted, { ...surroundings, port: undefined })).not.toHaveProperty("PORT");
});

test("envVars win, and without a process there is no fprocess", () => {
  const wanted = desireFunction(
    undefined,
    "dev",
    { service: "hello", image: "x", envVars: { GATEWAY_URL: "mine", mode: "http", PORT: "9" } },
    now,
  );
  const environment = functionEnvironment(wanted, surroundings);

  expect(environment).toMatchObject({ GATEWAY_URL: "mine", mode: "http", PORT: "9" });
  expect(environment).not.toHaveProperty("fprocess");
});

test("where the workload token is, only if the function names a service account and tokens are given", () => {
  const tokenFile = "/var/service/identity/token";
  const of = (annotations: Record<string, string>, envVars?: Record<string, string>) =>
    functionEnvironment(
      desireFunction(undefined, "dev", { service: "hello", image: "x", annotations, ...(envVars && { envVars }) }, now),
      { ...surroundings, tokenFile },
    )["SERVICE_TOKEN_FILE"];
  const named = { "com.service.serviceaccount": "reader" };

  expect(of(named)).toBe(tokenFile);
  expect(of({ "com.openfaas.serviceaccount": "reader" })).toBe(tokenFile);
  expect(of({})).toBeUndefined();
  expect(of(named, { SERVICE_TOKEN_FILE: "mine" })).toBe("mine");
  expect(
    functionEnvironment(
      desireFunction(undefined, "dev", { service: "a", image: "x", annotations: named }, now),
      surroundings,
    ),
  ).not.toHaveProperty("SERVICE_TOKEN_FILE");
});
