import { h } from "preact";
import { describe, expect, test } from "vitest";

import { NamespaceField } from "../../../../runtime/console/pages/namespaces/namespace-field.tsx";
import { NamespacesPage } from "../../../../runtime/console/pages/namespaces/namespaces-page.tsx";
import type { Replies } from "../render-part.tsx";
import { partRenderer } from "../shown-parts.ts";

const shown = partRenderer();
const sentence = 'Cannot list namespaces: "eve" has no right to Namespace:List on *';

function refusing(asked: string[]): Replies {
  return (method, path) => {
    asked.push(`${method} ${path}`);
    return new Response(JSON.stringify({ code: "forbidden", detail: sentence }), {
      status: 403,
      headers: { "Content-Type": "application/problem+json" },
    });
  };
}

describe("without the right to list namespaces", () => {
  test("their page shows the refusal, and no empty list", async () => {
    const asked: string[] = [];
    const { body } = shown(h(NamespacesPage, {}), refusing(asked));

    await expect.poll(() => body.text).toContain(sentence);
    expect(body.text).not.toContain("No namespace");
    expect(asked).toEqual(["GET /system/namespaces"]);
  });

  test("the choice of one is a text, and nobody is asked", async () => {
    const asked: string[] = [];
    const { body } = shown(h(NamespaceField, { value: "dev", onChange: () => {} }), refusing(asked));

    await expect.poll(() => body.all(({ localName }) => localName === "input")).toHaveLength(1);
    expect(body.text).toContain("Namespace");
    expect(asked).toEqual([]);
  });
});
