import { keyPrefixes } from "../api/names.ts";

/** Labels or annotations as they were sent. */
export type KeyedTexts = Readonly<Record<string, string>> | undefined;

/** The value of platform key `name` (without prefix) under either prefix; ours wins when both are there. */
export function keyValue(texts: KeyedTexts, name: string): string | undefined {
  if (texts === undefined) return undefined;
  for (const prefix of keyPrefixes) {
    const key = prefix + name;
    if (Object.hasOwn(texts, key)) return texts[key];
  }
  return undefined;
}
