import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { PlatformError } from "../../api/platform-error.ts";
import { acceptedCoding } from "./accepted-coding.ts";

/** A file of the console, as the list of the build names it. */
interface ListedFile {
  /** Where it is served. */
  readonly path: string;
  /** Below the directory. */
  readonly file: string;
  /** As in `Content-Type`. */
  readonly type: string;
  /** Whether its name changes with its content. */
  readonly immutable: boolean;
  /** Compressed forms, the smallest first. */
  readonly encodings: readonly { readonly coding: string; readonly file: string }[];
}

/** A file as it is sent. */
export interface SentFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly immutable: boolean;
  /** As in `Content-Encoding`; undefined = as it is. */
  readonly coding: string | undefined;
  /** As in `ETag`, of the content in this coding. */
  readonly tag: string;
}

/** The directory that `npm run console` writes. */
export const builtConsole = join(import.meta.dirname, "../../console/dist");

const listName = "files.json";
const startFile = "index.html";

/** The files of the console. A request only ever chooses one of the list: its path is joined to nothing. */
export class ConsoleFiles {
  readonly #directory: string;
  #list: ReadonlyMap<string, ListedFile> = new Map();
  #start: ListedFile | undefined;
  /** When the list that was read last was written. */
  #written: number | undefined;

  constructor(directory: string = builtConsole) {
    this.#directory = directory;
  }

  /**
   * The file for a path below `/ui/`: that of the list, or the page itself where the path has no dot, as its address
   * is one of the page's own. Undefined when there is none.
   * @throws PlatformError `route_not_found` when the console was not built
   */
  async read(path: string, acceptEncoding: string | undefined): Promise<SentFile | undefined> {
    for (;;) {
      const isNew = await this.#readList();
      const found = path.includes(".") ? this.#list.get(path) : this.#start;
      if (found === undefined) return undefined;
      try {
        return await this.#send(found, acceptEncoding);
      } catch (err) {
        // A build that ran meanwhile removed it; its own list is there by now.
        if (isMissing(err) && !isNew) this.#written = undefined;
        else throw isMissing(err) ? notBuilt() : err;
      }
    }
  }

  /**
   * Resolves when there are pages to serve.
   * @throws PlatformError `route_not_found` when the console was not built
   */
  async check(): Promise<void> {
    await this.#readList();
  }

  async #send(listed: ListedFile, acceptEncoding: string | undefined): Promise<SentFile> {
    const { encodings, type, immutable } = listed;
    const chosen = acceptedCoding(
      acceptEncoding,
      encodings.map(({ coding }) => coding),
    );
    const { file } = encodings.find(({ coding }) => coding === chosen) ?? listed;
    const bytes = await readFile(join(this.#directory, file));
    const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
    return { bytes, type, immutable, coding: chosen, tag: `"${digest}"` };
  }

  /** Reads the list when it is another one than before; false if it is the same. */
  async #readList(): Promise<boolean> {
    const path = join(this.#directory, listName);
    try {
      const { mtimeMs } = await stat(path);
      if (mtimeMs === this.#written) return false;
      const files: readonly ListedFile[] = JSON.parse(await readFile(path, "utf8"));
      this.#list = new Map(files.map((file) => [file.path, file]));
      this.#start = files.find(({ file }) => file === startFile);
      this.#written = mtimeMs;
      return true;
    } catch (err) {
      throw isMissing(err) ? notBuilt() : err;
    }
  }
}

function isMissing(err: unknown): boolean {
  return err instanceof Error && "code" in err && err.code === "ENOENT";
}

function notBuilt(): PlatformError {
  return new PlatformError(
    "route_not_found",
    "Cannot serve the console: it was not built; build it with: npm run console",
  );
}
