import { expect, test } from "vitest";

import { containerRequest } from "../../../../../../runtime/adapters/machine/docker/containers/container-request.ts";
import { echoSpec } from "../../../../../contract/replicas.contract.ts";

const surroundings = {
  instance: "i",
  id: "echo-1",
  image: "sha256:1",
  network: "n",
  gatewayHosts: [],
  secretsDirectory: "/s",
  user: "1:1",
  defaultLimits: { memory: "512Mi", cpu: "1" },
  cpus: 2,
};
const environmentOf = (environment: Record<string, string>) =>
  containerRequest({ ...echoSpec(), environment, grace: 61_000 }, surroundings);

test("a watchdog in the image drains calls for the stop grace of the container, or as envVars say", () => {
  expect(environmentOf({ a: "b" })).toMatchObject({ Env: ["write_timeout=1m1s", "a=b"] });
  expect(environmentOf({ write_timeout: "5s" })).toMatchObject({ Env: ["write_timeout=5s"] });
});
