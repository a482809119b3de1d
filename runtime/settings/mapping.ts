/** Whether content, such as of YAML or JSON, is a mapping of keys: no list, and not nothing. */
export function isMapping(content: unknown): content is Readonly<Record<string, unknown>> {
  return typeof content === "object" && content !== null && !Array.isArray(content);
}
