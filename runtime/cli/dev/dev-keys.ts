import type { Terminal } from "../terminal.ts";

/** What a key asks for; `interrupt` is Ctrl-C, which is no signal while keys are read. */
export type DevKey = "logs" | "clear" | "quit" | "interrupt";

const keys: Readonly<Record<string, DevKey>> = { l: "logs", c: "clear", q: "quit", "\u0003": "interrupt" };

export const keysLine = "keys: l logs on and off, c clear, q quit";

/** What was typed, key by key; others mean nothing. */
export function devKeysIn(typed: string): readonly DevKey[] {
  return typed
    .toLowerCase()
    .split("")
    .flatMap((key) => (Object.hasOwn(keys, key) ? (keys[key] ?? []) : []));
}

/** Reads keys without waiting for lines; the function that it returns gives the terminal back as it was. */
export function listenToKeys({ stdin }: Pick<Terminal, "stdin">, onKey: (key: DevKey) => void): () => void {
  const setRaw = (isRaw: boolean): void => {
    if ("setRawMode" in stdin && typeof stdin.setRawMode === "function") stdin.setRawMode(isRaw);
  };
  const read = (chunk: Buffer | string): void => {
    for (const key of devKeysIn(chunk.toString())) onKey(key);
  };
  setRaw(true);
  stdin.on("data", read);
  // A question before may have paused it.
  stdin.resume();
  return () => {
    stdin.off("data", read);
    stdin.pause();
    setRaw(false);
  };
}
