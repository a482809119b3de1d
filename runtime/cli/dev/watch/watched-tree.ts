import { watch, type FSWatcher } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { ignoreFile } from "../../../api/folders/folder-rules.ts";
import { watchRules, type WatchRules } from "./watch-rules.ts";

export interface TreeListener {
  /** Something that counts has changed; not what. */
  readonly onChange: () => void;
  /** Part of it cannot be watched. */
  readonly onError: (reason: string) => void;
}

/**
 * A folder whose changes are heard, with the directories below it. Each directory has a watcher of its own: the
 * recursive ones of Node.js would also walk through what is left out, such as `node_modules` and a broker's store.
 */
export class WatchedTree {
  readonly directory: string;
  readonly #listener: TreeListener;
  readonly #watchers = new Map<string, FSWatcher>();
  #rules: WatchRules = watchRules("");
  /** Walks follow one another. */
  #walked: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** @param directory absolute, without symbolic links */
  constructor(directory: string, listener: TreeListener) {
    this.directory = directory;
    this.#listener = listener;
  }

  /** Hears it as it is now, also if it is another one of this name; resolves when all of it is heard. */
  refresh(): Promise<void> {
    return this.#then(async () => {
      this.#forget("");
      this.#rules = watchRules(await readFile(join(this.directory, ignoreFile), "utf8").catch(() => ""));
      await this.#enter("");
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#forget("");
  }

  #then(walk: () => Promise<void>): Promise<void> {
    this.#walked = this.#walked.then(walk);
    return this.#walked;
  }

  async #enter(path: string): Promise<void> {
    if (this.#isClosed || (path !== "" && !this.#rules.enters(path))) return;
    // Before it is read: what is made after that is heard.
    if (!this.#listen(path)) return;
    const entries = await readdir(join(this.directory, path), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) if (entry.isDirectory()) await this.#enter(below(path, entry.name));
  }

  /** Whether it is heard; false when it is gone. */
  #listen(path: string): boolean {
    if (this.#watchers.has(path)) return true;
    try {
      const watcher = watch(join(this.directory, path), (event, name) => this.#heard(path, event, name));
      watcher.on("error", () => this.#forget(path));
      this.#watchers.set(path, watcher);
      return true;
    } catch (err) {
      const { code } = err as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") this.#listener.onError(reasonOf(err));
      return false;
    }
  }

  #heard(directory: string, event: string, name: string | null): void {
    if (this.#isClosed) return;
    if (name === null) return this.#listener.onChange();
    const path = below(directory, name);
    if (path === ignoreFile) return void this.refresh().then(this.#listener.onChange);
    if (!this.#rules.counts(path)) return;
    this.#listener.onChange();
    if (event === "rename") void this.#then(() => this.#renew(path));
  }

  /** A name has come or gone: if it is a directory, it may be another one than before. */
  async #renew(path: string): Promise<void> {
    this.#forget(path);
    const found = await lstat(join(this.directory, path)).catch(() => undefined);
    if (found?.isDirectory() !== true) return;
    await this.#enter(path);
    // What was made in it before it was heard.
    this.#listener.onChange();
  }

  #forget(path: string): void {
    for (const [each, watcher] of this.#watchers) {
      if (path !== "" && each !== path && !each.startsWith(`${path}/`)) continue;
      watcher.close();
      this.#watchers.delete(each);
    }
  }
}

function below(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

function reasonOf(err: unknown): string {
  const { code, message } = err as NodeJS.ErrnoException;
  // Both are what Linux says when the limits of inotify are reached.
  if (code === "ENOSPC" || code === "EMFILE") return "too many directories; list more in .dockerignore";
  return message;
}
