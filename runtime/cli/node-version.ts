/** The oldest Node.js whose API this program and its HTTP client use. */
const oldest = [22, 19] as const;

/** The sentence for a Node.js that is too old, such as `20.11.1`; undefined for others. */
export function nodeTooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return undefined;
  return `Cannot start: weir needs Node ${oldest.join(".")} or newer, this is ${major}.${minor}`;
}
