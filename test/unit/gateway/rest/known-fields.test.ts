import Type from "typebox";
import { expect, test } from "vitest";

import { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import { ignoredInDeployment } from "../../../../runtime/api/schemas/function-status.ts";
import { withKnownFields } from "../../../../runtime/gateway/rest/known-fields.ts";

const deployment = {
  body: FunctionDeployment,
  ignoredFields: ignoredInDeployment,
  fallbackFields: { service: "name" },
};
const hello = { service: "hello", image: "hello:1" };

test.each([
  [{ ...hello, envvars: {} }, 'Cannot read field "envvars": there is no such field; did you mean "envVars"?'],
  [{ ...hello, label: {} }, 'Cannot read field "label": there is no such field; did you mean "labels"?'],
  [{ ...hello, colour: "blue" }, 'Cannot read field "colour": there is no such field'],
  [
    { ...hello, name: "other" },
    'Cannot read the body: its "service" is "hello", its "name" is "other"; send one of them',
  ],
])("a contradictory or unknown field of a deployment is refused, with the nearest name: %j", (body, sentence) => {
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

test("a body of null is not called empty, and counts as none where none is required", () => {
  expect(() => withKnownFields(null, deployment)).toThrow("Cannot read the body: expected an object, got null");
  expect(withKnownFields(null, { ...deployment, bodyOptional: true })).toBeNull();
});

test("the name of a status stands for the field that is absent", () => {
  expect(withKnownFields({ name: "hello", image: "hello:1" }, deployment)).toEqual(hello);
  expect(withKnownFields({ image: "hello:1" }, deployment)).toEqual({ image: "hello:1" });
});

test("other bodies lose unknown fields, and a value that is no object is left to the schema", () => {
  const body = Type.Object({ name: Type.String() });
  expect(withKnownFields({ name: "a", nmae: "b" }, { body })).toEqual({ name: "a" });
  expect(withKnownFields([], { body })).toEqual([]);
  expect(withKnownFields(undefined, { body })).toBeUndefined();
});

test("an empty text is absent where its schema takes none, at every depth, and stays where one means something", () => {
  const empty = { namespace: "", limits: { memory: "128Mi", cpu: "" }, requests: { memory: "", cpu: "" } };
  const kept = { envProcess: "", envVars: { DEBUG: "" }, labels: { owner: "" } };
  expect(withKnownFields({ ...hello, ...kept, ...empty, secrets: ["", "key"], constraints: [""] }, deployment)).toEqual(
    { ...hello, ...kept, limits: { memory: "128Mi" }, requests: {}, secrets: ["key"], constraints: [] },
  );
  expect(withKnownFields({ ...hello, service: "", name: "hello" }, deployment)).toEqual(hello);
});
