import { expect, test } from "vitest";

import { desireFunction } from "../../../runtime/core/functions/desired-function.ts";
import { replicaSpec } from "../../../runtime/provider/replica-spec.ts";

const surroundings = { gatewayUrl: "http://127.0.0.1:8080", secretsDirectory: "/secrets", port: undefined };
const annotations = { "com.service.local.folder": "/srv/hello", "com.service.local.prepare": '["npm ci"]' };
const deployment = { service: "hello", image: "local/hello:1", annotations };
const at = (second: number): string => new Date(second * 1_000).toISOString();

test("each deployment of a folder is a revision of its own, also after the function was recreated", () => {
  const first = desireFunction(undefined, "functions", deployment, at(1));
  const second = desireFunction(first, "functions", deployment, at(2));
  const recreated = desireFunction(undefined, "functions", deployment, at(3));
  const sources = [first, second, recreated].map((wanted) => replicaSpec(wanted, surroundings, 30_000).source);
  for (const source of sources) expect(source).toMatchObject({ path: "/srv/hello", prepare: ["npm ci"] });
  expect(new Set(sources.map((source) => source?.revision)).size).toBe(3);
  const scaled = { ...first, replicas: 5, updatedAt: at(9) };
  expect(replicaSpec(scaled, surroundings, 30_000).source).toEqual(sources[0]);
});

test("a function with an image has no source", () => {
  const wanted = desireFunction(undefined, "functions", { service: "hello", image: "hello:1" }, at(1));
  expect(replicaSpec(wanted, surroundings, 30_000).source).toBeUndefined();
});
