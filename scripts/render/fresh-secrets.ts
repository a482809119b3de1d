import { randomBytes } from "node:crypto";

import { keySecretsOf, keySecretUse } from "../../infra/manifests/key-secrets.ts";
import { brokerSecretNames, type SecretValues } from "../../infra/manifests/secrets.ts";
import type { Platform } from "../../infra/manifests/platform.ts";
import { makeSigningKey } from "../../runtime/api/iam/signing-keys.ts";

/** New values for all Secrets except the certificate, which only a certificate authority can issue. */
export function freshSecrets(platform: Platform): SecretValues {
  return {
    adminUser: "admin",
    adminPassword: word(),
    invokeKey: word(),
    historyKey: word(),
    brokerPasswords: Object.fromEntries(brokerSecretNames(platform).map((name) => [name, word()])),
    storeKey: word(),
    routePassword: word(),
    signingKeys: Object.fromEntries(keySecretsOf(platform).map((name) => [name, makeSigningKey(keySecretUse[name])])),
  };
}

/** 192 random bits. */
function word(): string {
  return randomBytes(24).toString("base64url");
}
