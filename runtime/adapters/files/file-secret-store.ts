import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";

import { PlatformError } from "../../api/platform-error.ts";
import type { SecretRef, SecretStore } from "../../core/ports/secret-store.ts";
import { makeDirectoryDurably, syncDirectory, writeFileDurably } from "../../disk/durable-files.ts";
import { namespacePath, secretExists, secretNames, secretPath } from "./secret-files.ts";

/** Keeps secrets as files `<directory>/<namespace>/<name>` that only this user can read. */
export class FileSecretStore implements SecretStore {
  readonly #directory: string;
  readonly #onWrite: (ref: SecretRef) => Promise<void>;
  /** Settles with the last queued change: changes run one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /** `onWrite` brings a written value to running replicas; a change resolves only after it. */
  constructor(directory: string, onWrite: (ref: SecretRef) => Promise<void> = async () => {}) {
    this.#directory = directory;
    this.#onWrite = onWrite;
  }

  async list(namespace: string): Promise<readonly string[]> {
    return await secretNames(namespacePath(this.#directory, namespace));
  }

  create(ref: SecretRef, value: Uint8Array): Promise<void> {
    return this.#change(async () => {
      const path = secretPath(this.#directory, ref);
      if (await secretExists(path)) {
        throw new PlatformError("secret_exists", `Cannot create secret "${ref.name}": it exists already`);
      }
      await this.#write(ref, path, value);
    });
  }

  replace(ref: SecretRef, value: Uint8Array): Promise<void> {
    return this.#change(async () => {
      const path = secretPath(this.#directory, ref);
      if (!(await secretExists(path))) throw notFound("replace", ref);
      await this.#write(ref, path, value);
    });
  }

  remove(ref: SecretRef): Promise<void> {
    return this.#change(async () => {
      const path = secretPath(this.#directory, ref);
      if (!(await secretExists(path))) throw notFound("remove", ref);
      await rm(path);
      await syncDirectory(namespacePath(this.#directory, ref.namespace));
    });
  }

  removeAll(namespace: string): Promise<void> {
    return this.#change(() => rm(namespacePath(this.#directory, namespace), { recursive: true, force: true }));
  }

  async #write(ref: SecretRef, path: string, value: Uint8Array): Promise<void> {
    const staging = join(this.#directory, ".staging");
    await makeDirectoryDurably(namespacePath(this.#directory, ref.namespace));
    await makeDirectoryDurably(staging);
    await chmod(this.#directory, 0o700);
    await writeFileDurably(path, value, { mode: 0o400, staging });
    await this.#onWrite(ref);
  }

  #change(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

function notFound(what: "replace" | "remove", { name, namespace }: SecretRef): PlatformError {
  return new PlatformError(
    "secret_not_found",
    `Cannot ${what} secret "${name}" of namespace "${namespace}": it does not exist`,
  );
}
