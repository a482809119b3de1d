import Type from "typebox";
import { expect, test } from "vitest";

import { FunctionDeployment } from "../../../runtime/api/function-deployment.ts";
import { ignoredInDeployment } from "../../../runtime/api/function-status.ts";
import { withKnownFields } from "../../../runtime/gateway/known-fields.ts";

const deployment = { body: FunctionDeployment, ignoredFields: ignoredInDeployment };
const hello = { service: "hello", image: "hello:1" };

test.each([
  [{ ...hello, envvars: {} }, 'Cannot read field "envvars": there is no such field; did you mean "envVars"?'],
  [{ ...hello, label: {} }, 'Cannot read field "label": there is no such field; did you mean "labels"?'],
  [{ ...hello, colour: "blue" }, 'Cannot read field "colour": there is no such field'],
])("an unknown field of a deployment is refused, with the nearest name: %j", (body, sentence) => {
  expect(() => withKnownFields(body, deployment)).toThrow(
    expect.objectContaining({ code: "validation_failed", message: sentence }),
  );
});

test("fields of a status and of older clients are dropped from a deployment", () => {
  const status = { name: "hello", replicas: 1, availableReplicas: 1, invocationCount: 7, createdAt: "", generation: 2 };
  const more = { queue: "default", conditions: [], usage: {}, network: "", registryAuth: "" };
  expect(withKnownFields({ ...hello, ...status, ...more, namespace: "dev" }, deployment)).toEqual({
    ...hello,
    namespace: "dev",
  });
});

test("other bodies lose what is not known, and what is no object is left to the schema", () => {
  const body = Type.Object({ name: Type.String() });
  expect(withKnownFields({ name: "a", nmae: "b" }, { body })).toEqual({ name: "a" });
  expect(withKnownFields([], { body })).toEqual([]);
  expect(withKnownFields(undefined, { body })).toBeUndefined();
});
