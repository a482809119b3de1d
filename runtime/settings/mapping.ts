/** Whether parsed content, such as YAML or JSON, is a mapping of keys: neither a list nor null. */
export function isMapping(content: unknown): content is Readonly<Record<string, unknown>> {
  return typeof content === "object" && content !== null && !Array.isArray(content);
}
