import { expect, test } from "vitest";

import { openClusterAccess } from "../../../../runtime/gateway/access/open-access.ts";
import { newKeyPem, writeKeyFiles } from "../../../support/key-files.ts";
import { MemoryAccessRules } from "../../../support/memory/memory-access-rules.ts";
import { tempDirectory } from "../../../support/temp-directory.ts";

const documents = { fetchFromIssuer: () => Promise.reject(new Error("no issuer")) };

test.each([
  ["public_url", { publicUrl: "https://weir.example", clusterGatewayUrl: "http://edge:80" }, "https://weir.example"],
  ["else cluster_gateway_url", { publicUrl: undefined, clusterGatewayUrl: "http://edge:80" }, "http://edge:80"],
  [
    "else the gateway's Service",
    { publicUrl: undefined, clusterGatewayUrl: undefined },
    "http://gateway.faas.svc.cluster.local.:8080",
  ],
])("the issuer of tokens on a cluster is %s", async (_, urls, issuer) => {
  await using directory = await tempDirectory("access");
  await writeKeyFiles(directory.path, newKeyPem());
  const settings = { ...urls, platformNamespace: "faas", secretMountPath: directory.path };
  expect(openClusterAccess(settings, new MemoryAccessRules(), documents)?.keys.issuer).toBe(issuer);
  expect(openClusterAccess(settings, undefined, documents)).toBeUndefined();
});
