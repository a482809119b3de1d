import { isUtf8 } from "node:buffer";
import { constants, open } from "node:fs/promises";
import { errorMessage } from "../error-message.ts";

/** Leaves out a byte-order mark. */
const utf8 = new TextDecoder();

/** A text, or why it cannot be read. */
export type TextFile =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused"; readonly state: string };

/** Reads a file of at most `mostBytes` bytes of UTF-8. */
export async function readTextFile(path: string, mostBytes: number): Promise<TextFile> {
  const refused = (state: string): TextFile => ({ kind: "refused", state });
  try {
    // Without O_NONBLOCK, opening a pipe waits for its writer.
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await handle.stat();
    if (!found.isFile()) return refused("it is not a file");
    if (found.size > mostBytes) return refused(`it is over the limit of ${mostBytes} bytes`);
    const bytes = await handle.readFile();
    return isUtf8(bytes) ? { kind: "text", text: utf8.decode(bytes) } : refused("it is not UTF-8");
  } catch (err) {
    return refused(pathState(err));
  }
}

/** Why a path cannot be used, by the error of the file system. */
export function pathState(err: unknown): string {
  switch (err instanceof Error && "code" in err ? err.code : undefined) {
    case "ENOENT":
    case "ENOTDIR":
      return "it is not there";
    case "EACCES":
    case "EPERM":
      return "it may not be read";
    case "ELOOP":
      return "its links lead in a circle";
    default:
      return errorMessage(err);
  }
}
