import { keyPrefixes } from "../../api/names.ts";

/** Labels or annotations as they were sent. */
export type KeyedTexts = Readonly<Record<string, string>> | undefined;

/** Platform key `name` (without prefix) as it was sent, under either prefix; ours wins when both are present. */
export function sentKey(texts: KeyedTexts, name: string): string | undefined {
  if (texts === undefined) return undefined;
  for (const prefix of keyPrefixes) {
    const key = prefix + name;
    if (Object.hasOwn(texts, key)) return key;
  }
  return undefined;
}

/** The value of platform key `name`, as {@link sentKey} finds it. */
export function keyValue(texts: KeyedTexts, name: string): string | undefined {
  const key = sentKey(texts, name);
  return key === undefined ? undefined : texts?.[key];
}
