import { join } from "node:path";

import { findProjectPath } from "../../project/project-path.ts";
import type { Project } from "../../project/project.ts";
import { QuietChanges } from "./quiet-changes.ts";
import { WatchedFiles } from "./watched-files.ts";
import { WatchedTree } from "./watched-tree.ts";

/** What has changed: the functions whose folders did, or the project with all of them. */
export type ProjectChange =
  | { readonly kind: "functions"; readonly names: readonly string[] }
  | { readonly kind: "project" };

export interface ProjectListener {
  readonly onChange: (change: ProjectChange) => void;
  readonly onError: (sentence: string) => void;
  /** Absolute paths of `--env-file`. */
  readonly environmentFiles: readonly string[];
}

/** Hears when functions of a project, its `weir.yaml` or a file that it names are saved. */
export class WatchedProject {
  readonly #listener: ProjectListener;
  readonly #files: WatchedFiles;
  readonly #trees = new Map<string, WatchedTree>();
  /** Names of functions by folder. */
  #users: ReadonlyMap<string, readonly string[]> = new Map();
  /** Folders that changed; undefined stands for the project. */
  readonly #changes: QuietChanges<string | undefined>;

  constructor(listener: ProjectListener) {
    this.#listener = listener;
    this.#changes = new QuietChanges((changes) => listener.onChange(this.#changeOf(changes)));
    this.#files = new WatchedFiles(() => this.#changes.add(undefined));
  }

  /** From now on these functions of the project as it is now are heard; resolves when they are. */
  async set(project: Project, names: readonly string[]): Promise<void> {
    const { directory, file, content } = project;
    const definitions = names.map((name) => [name, content.functions[name] ?? {}] as const);
    const listed = definitions.flatMap(([, { environmentFiles = [] }]) => environmentFiles);
    const folders = new Set<string>();
    const users = new Map<string, string[]>();
    for (const [name, { folder, build }] of definitions)
      for (const named of new Set([folder, build?.context])) {
        if (named === undefined) continue;
        const found = await findProjectPath(directory, named, "directory");
        if (found.kind === "found") users.set(found.path, [...(users.get(found.path) ?? []), name]);
        folders.add(join(directory, named));
      }
    this.#users = users;
    const named = [file, ...listed.map((each) => join(directory, each)), ...this.#listener.environmentFiles];
    // A folder that is removed and made again is another one.
    this.#files.set([...named, ...[...folders].filter((folder) => folder !== directory)]);
    for (const [folder, tree] of this.#trees)
      if (!users.has(folder)) {
        tree.close();
        this.#trees.delete(folder);
      }
    await Promise.all([...users.keys()].map((folder) => this.#treeOf(folder).refresh()));
  }

  close(): void {
    this.#changes.close();
    this.#files.close();
    for (const tree of this.#trees.values()) tree.close();
  }

  #treeOf(folder: string): WatchedTree {
    const there = this.#trees.get(folder);
    if (there !== undefined) return there;
    const made = new WatchedTree(folder, {
      onChange: () => this.#changes.add(folder),
      onError: (reason) => this.#listener.onError(`Cannot watch "${folder}": ${reason}`),
    });
    this.#trees.set(folder, made);
    return made;
  }

  #changeOf(changes: ReadonlySet<string | undefined>): ProjectChange {
    if (changes.has(undefined)) return { kind: "project" };
    const names = [...changes].flatMap((folder) => (folder === undefined ? [] : (this.#users.get(folder) ?? [])));
    return { kind: "functions", names: [...new Set(names)] };
  }
}
