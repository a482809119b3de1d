import { randomBytes } from "node:crypto";

import { brokerSecretNames, type SecretValues } from "../../infra/manifests/secrets.ts";
import type { Platform } from "../../infra/manifests/platform.ts";

/** New values for all Secrets except the certificate, which only a certificate authority can issue. */
export function freshSecrets(platform: Platform): SecretValues {
  return {
    adminUser: "admin",
    adminPassword: word(),
    invokeKey: word(),
    brokerPasswords: Object.fromEntries(brokerSecretNames(platform).map((name) => [name, word()])),
    storeKey: word(),
    routePassword: word(),
  };
}

/** 192 random bits. */
function word(): string {
  return randomBytes(24).toString("base64url");
}
