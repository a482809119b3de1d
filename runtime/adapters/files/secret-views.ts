import { chmod, chown, mkdir, readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";

import { workloadTokenFile } from "../../api/names.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { formatRef, type FunctionRef } from "../../core/functions/function-ref.ts";
import type { SecretRef } from "../../core/ports/secret-store.ts";
import { writeFileDurably } from "../../disk/durable-files.ts";
import { readSecret, secretPath } from "./secret-files.ts";

/** Directories of the secrets and of their views. */
export interface SecretViewsParts {
  /** The secret store's directory. */
  readonly source: string;
  /** Holds one directory per function. */
  readonly directory: string;
  readonly staging: string;
}

interface View extends FunctionRef {
  readonly path: string;
  readonly owner: number | undefined;
  readonly secrets: Set<string>;
}

/** Keeps one directory per function with exactly the secrets it names, as files it can read. */
export class SecretViews {
  readonly #parts: SecretViewsParts;
  readonly #views = new Map<string, View>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: SecretViewsParts) {
    this.#parts = parts;
  }

  /** The directory of a function; it may not exist yet. */
  pathOf(ref: FunctionRef): string {
    return join(this.#parts.directory, formatRef(ref));
  }

  /**
   * Adds `secrets` with their current values to the directory, for user `owner` (undefined = this process's).
   * @throws PlatformError `secret_not_found` naming those that do not exist; the view is then unchanged
   */
  show(ref: FunctionRef, secrets: readonly string[], owner: number | undefined): Promise<void> {
    return this.#change(async () => {
      const values = await this.#read(ref, secrets);
      const path = await this.#make(ref, secrets, owner);
      for (const [name, value] of values) await this.#write(join(path, name), value, owner);
    });
  }

  /** Writes the function's workload token into the directory, for user `owner`. */
  showToken(ref: FunctionRef, token: string, owner: number | undefined): Promise<void> {
    return this.#change(async () => {
      const path = await this.#make(ref, [], owner);
      await this.#write(join(path, workloadTokenFile.machine), Buffer.from(token), owner);
    });
  }

  hideToken(ref: FunctionRef): Promise<void> {
    return this.#change(() => rm(join(this.pathOf(ref), workloadTokenFile.machine), { force: true }));
  }

  /**
   * Adopts a directory that an earlier process left, for replicas that still run: secrets that exist get their current
   * values, the others keep theirs.
   */
  resume(ref: FunctionRef, secrets: readonly string[], owner: number | undefined): Promise<void> {
    return this.#change(async () => {
      const { namespace, name } = ref;
      const path = this.pathOf(ref);
      const shown = this.#views.get(formatRef(ref))?.secrets ?? [];
      this.#views.set(formatRef(ref), { namespace, name, path, owner, secrets: new Set([...shown, ...secrets]) });
      await mkdir(path, { recursive: true, mode: 0o700 });
      for (const secret of secrets) {
        const value = await readSecret(secretPath(this.#parts.source, { namespace, name: secret }));
        if (value !== undefined) await this.#write(join(path, secret), value, owner);
      }
    });
  }

  /** Removes directories and files that an earlier process left and that are in no view now; tokens stay with their view. */
  removeOthers(): Promise<void> {
    return this.#change(async () => {
      const views = new Map([...this.#views.values()].map((view) => [view.path, view]));
      for (const path of await pathsIn(this.#parts.directory)) {
        const view = views.get(path);
        if (view === undefined) await rm(path, { recursive: true, force: true });
        for (const file of view === undefined ? [] : await pathsIn(path))
          if (view?.secrets.has(basename(file)) !== true && basename(file) !== workloadTokenFile.machine)
            await rm(file, { force: true });
      }
    });
  }

  /** Removes secrets from the directory that are not in `stillNamed()`, which is called when the change runs. */
  limit(ref: FunctionRef, stillNamed: () => ReadonlySet<string>): Promise<void> {
    return this.#change(async () => {
      const view = this.#views.get(formatRef(ref));
      const named = stillNamed();
      for (const name of view?.secrets ?? []) {
        if (view === undefined || named.has(name)) continue;
        view.secrets.delete(name);
        await rm(join(view.path, name), { force: true });
      }
    });
  }

  /** Writes the current value of a secret to the functions that name it. */
  update(ref: SecretRef): Promise<void> {
    return this.#change(async () => {
      const views = [...this.#views.values()].filter(
        ({ namespace, secrets }) => namespace === ref.namespace && secrets.has(ref.name),
      );
      const value = views.length === 0 ? undefined : await readSecret(secretPath(this.#parts.source, ref));
      if (value === undefined) return;
      for (const { path, owner } of views) await this.#write(join(path, ref.name), value, owner);
    });
  }

  forget(ref: FunctionRef): Promise<void> {
    return this.#change(async () => {
      this.#views.delete(formatRef(ref));
      await rm(this.pathOf(ref), { recursive: true, force: true });
    });
  }

  /** The function's directory, with `secrets` among those of its view. */
  async #make(
    { namespace, name }: FunctionRef,
    secrets: readonly string[],
    owner: number | undefined,
  ): Promise<string> {
    const ref = { namespace, name };
    const path = this.pathOf(ref);
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (owner !== undefined) {
      await chown(path, owner, owner);
      await chmod(path, 0o500);
    }
    const shown = this.#views.get(formatRef(ref))?.secrets ?? [];
    this.#views.set(formatRef(ref), { ...ref, path, owner, secrets: new Set([...shown, ...secrets]) });
    return path;
  }

  async #read({ namespace, name }: FunctionRef, secrets: readonly string[]): Promise<Map<string, Buffer>> {
    const values = new Map<string, Buffer>();
    const missing: string[] = [];
    for (const secret of secrets) {
      const value = await readSecret(secretPath(this.#parts.source, { namespace, name: secret }));
      if (value === undefined) missing.push(secret);
      else values.set(secret, value);
    }
    if (missing.length === 0) return values;
    const names = missing.map((secret) => `"${secret}"`).join(", ");
    throw new PlatformError(
      "secret_not_found",
      `Cannot start function "${formatRef({ namespace, name })}": ${missing.length === 1 ? `secret ${names} does` : `secrets ${names} do`} not exist`,
    );
  }

  async #write(path: string, value: Uint8Array, owner: number | undefined): Promise<void> {
    const { staging } = this.#parts;
    await mkdir(staging, { recursive: true, mode: 0o700 });
    await writeFileDurably(path, value, { mode: 0o400, staging, owner });
  }

  #change(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

async function pathsIn(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(() => [])).map((name) => join(directory, name));
}
