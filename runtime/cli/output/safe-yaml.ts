import type { Document } from "yaml";

import { escapeText } from "./escape-text.ts";

/**
 * A value, or a document that has comments, as YAML, which its versions 1.1 and 1.2 read alike. As in JSON there is no
 * character in it that a terminal obeys: they are written as escapes, which mean the same.
 */
export async function safeYaml(content: unknown): Promise<string> {
  const { Document: YamlDocument, isDocument, visit } = await import("yaml");
  const document: Document = isDocument(content)
    ? content
    : new YamlDocument(content, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  visit(document, {
    Scalar: (_key, node) => {
      // Only there escapes mean characters.
      if (typeof node.value === "string" && escapeText(node.value) !== node.value) node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeText(document.toString({ lineWidth: 0 }));
}
