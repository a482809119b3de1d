/**
 * Whole objects as they reach the API server, as YAML below `golden/`. After a wanted change:
 *   npx vitest run --project unit test/unit/adapters-kubernetes/golden.test.ts -u
 * and read the difference: what is in a pod template rolls every function there is.
 */
import { expect, test } from "vitest";
import { stringify } from "yaml";

import { functionDeployment } from "../../../runtime/adapters/kubernetes/manifests/function-deployment.ts";
import { functionObjectOf } from "../../../runtime/adapters/kubernetes/manifests/function-object.ts";
import { functionService } from "../../../runtime/adapters/kubernetes/manifests/function-service.ts";
import {
  defaultNamespaceSettings,
  namespaceObjects,
} from "../../../runtime/adapters/kubernetes/manifests/namespace-objects.ts";
import { context, desired, full, fullContext, plain } from "./function-samples.ts";

const numbered = desired({
  service: "0ne",
  image: "ghcr.io/acme/one",
  annotations: { "com.service.protocol": "h2c", "com.service.health.http.periodSeconds": "5" },
});
const settings = {
  ...defaultNamespaceSettings("weir"),
  clusterRanges: ["10.244.0.0/16", "10.96.0.0/12", "fd00::/8"],
  bindAccounts: true,
};

test.each<[file: string, objects: readonly object[]]>([
  ["plain", [functionObjectOf(plain), functionDeployment(plain, context), functionService(plain, context)]],
  ["full", [functionObjectOf(full), functionDeployment(full, fullContext), functionService(full, fullContext)]],
  ["numbered", [functionDeployment(numbered, context), functionService(numbered, context)]],
  ["namespace", namespaceObjects("functions", settings)],
  ["namespace-default", namespaceObjects("functions", defaultNamespaceSettings("weir"))],
])("objects of %s", async (file, objects) => {
  const text = objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }));
  await expect(text.join("---\n")).toMatchFileSnapshot(`golden/${file}.yaml`);
});
