import { watch, type FSWatcher } from "node:fs";
import { basename, dirname } from "node:path";

/** Single files whose changes are heard. Their directories are watched: editors put a new file in the old one's place. */
export class WatchedFiles {
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #names: ReadonlySet<string> = new Set();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** From now on these are heard; paths are absolute. One whose directory is not there is not. */
  set(files: readonly string[]): void {
    this.#names = new Set(files);
    const directories = new Map(files.map((file) => [dirname(file), file]));
    for (const [directory, watcher] of this.#watchers)
      if (!directories.has(directory)) {
        watcher.close();
        this.#watchers.delete(directory);
      }
    for (const directory of directories.keys()) if (!this.#watchers.has(directory)) this.#listen(directory);
  }

  close(): void {
    this.set([]);
  }

  #listen(directory: string): void {
    try {
      const watcher = watch(directory, (_event, name) => {
        const isOurs = [...this.#names].some((file) => dirname(file) === directory && basename(file) === name);
        if (name === null || isOurs) this.#onChange();
      });
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(directory);
      });
      this.#watchers.set(directory, watcher);
    } catch {
      // It is not there.
    }
  }
}
