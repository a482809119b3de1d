/**
 * A line of a file of `KEY=value` lines; undefined for a value that takes more than one, which no such file can hold.
 */
export function environmentLine(key: string, value: string): string | undefined {
  if (/[\0\n\r\u2028\u2029]/.test(value)) return undefined;
  const plain = value === value.trim() && !/^["']/.test(value);
  return `${key}=${plain ? value : `"${value}"`}\n`;
}
