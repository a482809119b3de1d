import { describe, expect, test } from "vitest";

import {
  metadataKept,
  outlineText,
  readOutline,
} from "../../../../../runtime/adapters/kubernetes/stores/secret-outline.ts";

const metadata = {
  uid: "u",
  resourceVersion: "7",
  name: "key",
  namespace: "dev",
  labels: { team: "blue" },
  annotations: { note: "1", "kubectl.kubernetes.io/last-applied-configuration": "canary" },
  finalizers: ["example.com/kept"],
  managedFields: [{ manager: "kubectl" }],
};
const annotated = (text: string) => ({ metadata: { annotations: { "service.com/outline": text } } });
const known = { uid: "u", resourceVersion: "7", keys: ["a"] };

describe("the outline of a core Secret", () => {
  test("is read as it was written, without the copy of the values", () => {
    const outline = readOutline(annotated(outlineText(metadata, ["a"])));
    expect(outline).toEqual({
      ...known,
      labels: { team: "blue" },
      annotations: { note: "1" },
      finalizers: ["example.com/kept"],
    });
    expect(outline && metadataKept(outline)).toEqual({
      uid: "u",
      resourceVersion: "7",
      labels: { team: "blue", "app.kubernetes.io/managed-by": "weir" },
      annotations: { note: "1" },
      finalizers: ["example.com/kept"],
    });
  });

  test("of a secret without metadata is short, and makes it Weir's", () => {
    const outline = readOutline(annotated(outlineText({ uid: "u", resourceVersion: "7" }, ["a"])));
    expect(outline).toEqual(known);
    expect(outline && metadataKept(outline)).toEqual({
      uid: "u",
      resourceVersion: "7",
      labels: { "app.kubernetes.io/managed-by": "weir" },
    });
  });

  test("says when there is more than fits into an annotation", () => {
    const text = outlineText({ ...metadata, annotations: { note: "x".repeat(200_000) } }, ["a"]);
    expect(readOutline(annotated(text))).toEqual({ ...known, isTooLarge: true });
  });

  test.each(["", "no JSON", "null", "[]", "{}", JSON.stringify({ ...known, resourceVersion: "" }), '{"uid":"u"}'])(
    "that people wrote as %j is ignored",
    (text) => {
      expect(readOutline(annotated(text))).toBeUndefined();
      expect(readOutline({ metadata: {} })).toBeUndefined();
    },
  );
});
