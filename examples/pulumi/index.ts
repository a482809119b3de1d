import * as pulumi from "@pulumi/pulumi";
import { Function, FunctionSecret, readConfig, WeirPlatform } from "weir/infra";

const platform = new WeirPlatform("weir", readConfig());

const key = new FunctionSecret("signing-key", {
  platform,
  files: { "signing-key": new pulumi.Config().requireSecret("signingKey") },
});

const checksum = new Function("checksum", {
  platform,
  image: "weir-base:0.1.0",
  handler: "sha256sum",
  labels: { "com.service.scale.max": "5" },
});

const signature = new Function("signature", {
  platform,
  image: "weir-base:0.1.0",
  handler: "sha256sum - /var/service/secrets/signing-key",
  secrets: [key.secretName],
});

export const { gatewayUrl, adminUser, adminPassword, portForward } = platform;
export const paths = [checksum.path, signature.path];
