import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
/** Bytes. */
const maxOutput = 2 ** 30;

/** A text as it was at some time in the history. */
export interface Blob {
  readonly id: string;
  /** One of the paths that it had. */
  readonly path: string;
  readonly text: string;
}

/** All texts that any branch or tag of the repository ever had, each once; content with a zero byte is not a text. */
export async function* textsOfHistory(directory: string): AsyncGenerator<Blob> {
  const options = { cwd: directory, maxBuffer: maxOutput };
  const { stdout } = await run("git", ["rev-list", "--objects", "--all", "HEAD"], options);
  const paths = new Map<string, string>();
  for (const line of stdout.split("\n")) {
    const end = line.indexOf(" ");
    if (end > 0) paths.set(line.slice(0, end), line.slice(end + 1));
  }
  const reading = run("git", ["cat-file", "--batch"], { ...options, encoding: "buffer" });
  reading.child.stdin?.end([...paths.keys()].join("\n"));
  const { stdout: objects } = await reading;
  // Each object is `<id> <type> <size>\n<content>\n` (git-cat-file(1), BATCH OUTPUT).
  for (let at = 0; at < objects.length;) {
    const lineEnd = objects.indexOf("\n", at);
    const [id = "", type, size] = objects.toString("latin1", at, lineEnd).split(" ");
    const end = lineEnd + 1 + Number(size);
    const content = objects.subarray(lineEnd + 1, end);
    at = end + 1;
    if (type === "blob" && !content.includes(0)) yield { id, path: paths.get(id) ?? id, text: content.toString() };
  }
}
