import { describe, expect, test } from "vitest";

import { nearestName } from "../../../../runtime/api/closest-name.ts";
import { annotationRules, annotationsNotBuilt } from "../../../../runtime/api/schemas/key-rules.ts";
import type { FunctionDeployment } from "../../../../runtime/api/schemas/function-deployment.ts";
import { checkDeployment } from "../../../../runtime/core/functions/check-deployment.ts";
import { unknownKey } from "../../../../runtime/core/labels/unknown-keys.ts";

const hello: FunctionDeployment = { service: "hello", image: "hello:1" };

describe("unknownKey()", () => {
  test.each<[Partial<FunctionDeployment>, string]>([
    [
      { labels: { "com.service.scale.mim": "2" } },
      'Cannot read label "com.service.scale.mim": there is no such label; did you mean "com.service.scale.min"?',
    ],
    [
      { annotations: { "com.service.retry.max-wait": "2s" } },
      'Cannot read annotation "com.service.retry.max-wait": there is no such annotation; did you mean "com.service.retry.max_wait"?',
    ],
    [
      { annotations: { "com.service.health.http.initialdelayseconds": "2" } },
      'Cannot read annotation "com.service.health.http.initialdelayseconds": there is no such annotation; did you mean "com.service.health.http.initialDelaySeconds"?',
    ],
    [
      { annotations: { "com.service.scale.min": "2" } },
      'Cannot read annotation "com.service.scale.min": it is a label, not an annotation',
    ],
    [
      { labels: { "com.service.queue": "slow" } },
      'Cannot read label "com.service.queue": it is an annotation, not a label',
    ],
    [
      { labels: { "com.service.profil": "gpu" } },
      'Cannot read label "com.service.profil": there is no such label; did you mean annotation "com.service.profile"?',
    ],
    [{ labels: { "com.service.colour": "blue" } }, 'Cannot read label "com.service.colour": there is no such label'],
    [
      { annotations: { "com.service.publish.on-done": "x" } },
      'Cannot read annotation "com.service.publish.on-done": it is not built yet',
    ],
    [
      { labels: { "com.service.publish.on-done": "x" } },
      'Cannot read label "com.service.publish.on-done": there is no such label',
    ],
    [
      { annotations: { "com.service.local.foldr": "/srv/hello" } },
      'Cannot read annotation "com.service.local.foldr": there is no such annotation; did you mean "com.service.local.folder"?',
    ],
  ])("%j", (fields, sentence) => {
    const deployment = { ...hello, ...fields };
    expect(unknownKey(deployment)).toBe(sentence);
    expect(() => checkDeployment(deployment)).toThrow(
      expect.objectContaining({ code: "validation_failed", message: sentence }),
    );
  });

  test("known keys are not reported as unknown", () => {
    expect(annotationsNotBuilt.filter((name) => name in annotationRules)).toEqual([]);
  });

  test("keys with other prefixes, also those of the OpenFaaS family, are stored", () => {
    const others = { "com.openfaas.scale.mim": "x", "com.servicea": "x", "scale.min": "x", topic: "x" };
    expect(unknownKey({ ...hello, labels: others, annotations: others })).toBeUndefined();
  });
});

describe("nearestName()", () => {
  const names = ["hello", "hello-world", "figlet", "ocr"];

  test.each([
    ["helo", "hello"],
    ["hlelo", "hello"],
    ["hello_world", "hello-world"],
    ["helloWorld", "hello-world"],
    ["figlets", "figlet"],
    ["fgilte", undefined],
    ["ocx", undefined],
    ["", undefined],
    ["something-else", undefined],
  ])("%s: %s", (name, near) => {
    expect(nearestName(name, names)).toBe(near);
  });

  test("the nearest of several", () => {
    expect(nearestName("resize-imagee", ["resize-imagers", "resize-image"])).toBe("resize-image");
  });
});
