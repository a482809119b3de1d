/** The parameters of a query; the last of a repeated one wins. */
export function parseQuery(text: string): Record<string, string> {
  const parameters: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) parameters[name] = value;
  return parameters;
}
