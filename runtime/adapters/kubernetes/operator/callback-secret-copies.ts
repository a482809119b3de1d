import { isSecretName } from "../../../api/grammar.ts";
import { callbackSecretCopies } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { callbackSecretFile, callbackSecretIn } from "../../../core/callbacks/callback-secret.ts";
import type { OperatedKind } from "../../../core/ports/operated-kind.ts";
import type { SecretRef } from "../../../core/ports/secret-store.ts";
import type { KubeClient } from "../client/client.ts";
import { kinds } from "../client/kinds.ts";
import { contentHash } from "../manifests/content-hash.ts";
import type { FunctionObject } from "../manifests/function-custom-resource.ts";
import type { CoreSecret } from "../stores/secret-reference.ts";
import type { ObjectChange } from "../watch/object-cache.ts";
import type { CoreSecrets } from "./core-secrets.ts";
import type { FunctionCaches } from "./function-caches.ts";
import { signingValue } from "./signing-value.ts";

/** What the copies are made with. */
export interface CallbackSecretCopyParts {
  readonly functions: Pick<FunctionCaches["functions"], "synced" | "entries" | "listen">;
  readonly secrets: Pick<CoreSecrets, "listen">;
  readonly platformNamespace: string;
}

interface NamedSecret {
  readonly ref: SecretRef;
  /** Keys of the functions that name it. */
  readonly functions: Set<string>;
}

/** Digests of the copies, by file: no cache of the operator holds values. */
type CopyDigests = Map<string, string>;

/** Milliseconds after which a secret that cannot be copied is read again: nothing reports one that is made by hand. */
const missingInterval = 5_000;

/**
 * Copies of the secrets that functions name for their callbacks, in the one Secret of the platform's namespace that
 * queue-workers mount; the keys are its files. A secret that no function names any more, or that cannot be used, has no
 * copy. The Secret itself is part of the platform's manifests: this account may not create any. It is read once in a
 * round of all keys: all copies together are many, and each would have to read them all.
 */
export class CallbackSecretCopies implements OperatedKind {
  readonly name = "callback-secret";
  readonly #client: KubeClient;
  readonly #parts: CallbackSecretCopyParts;
  readonly #named = new Map<string, NamedSecret>();
  readonly #ends: (() => void)[] = [];
  #changed: (key: string) => void = () => {};
  /** From the last read, with what was written since; undefined when the next one who asks has to read. */
  #copies: Promise<CopyDigests | undefined> | undefined;

  constructor(client: KubeClient, parts: CallbackSecretCopyParts) {
    this.#client = client;
    this.#parts = parts;
  }

  async open(changed: (key: string) => void): Promise<void> {
    const { functions, secrets } = this.#parts;
    await functions.synced;
    this.#changed = changed;
    this.#ends.push(
      functions.listen((change) => {
        for (const file of this.#learn(change)) changed(file);
      }),
      secrets.listen((ref) => {
        const file = callbackSecretFile(ref);
        if (this.#named.has(file)) changed(file);
      }),
    );
    for (const [key, after] of functions.entries()) this.#learn({ key, before: undefined, after });
    for (const key of this.keys()) changed(key);
  }

  *keys(): Generator<string> {
    yield callbackSecretCopies.object;
    yield* this.#named.keys();
  }

  async reconcile(key: string): Promise<number | undefined> {
    if (key === callbackSecretCopies.object) return this.#lookAgain();
    const named = this.#named.get(key);
    const value = named && (await this.#valueOf(named.ref));
    const copies = await (this.#copies ??= this.#read());
    if (copies?.get(key) !== (value && contentHash(value))) {
      if (copies === undefined) throw this.#missing();
      await this.#write({ [key]: value ?? null });
    }
    return named !== undefined && value === undefined ? missingInterval : undefined;
  }

  close(): Promise<void> {
    for (const end of this.#ends) end();
    return Promise.resolve();
  }

  /** Takes in which secret a function names; the files that this concerns. */
  #learn({ key, before, after }: ObjectChange<FunctionObject>): readonly string[] {
    const [was, is] = [before && secretOf(before), after && secretOf(after)];
    const [wasFile, isFile] = [was && callbackSecretFile(was), is && callbackSecretFile(is)];
    if (wasFile === isFile) return [];
    if (wasFile !== undefined) {
      const named = this.#named.get(wasFile);
      named?.functions.delete(key);
      if (named?.functions.size === 0) this.#named.delete(wasFile);
    }
    if (is !== undefined && isFile !== undefined) {
      const named = this.#named.get(isFile) ?? { ref: is, functions: new Set<string>() };
      named.functions.add(key);
      this.#named.set(isFile, named);
    }
    return [wasFile, isFile].filter((file) => file !== undefined);
  }

  async #valueOf(ref: SecretRef): Promise<string | undefined> {
    const secret = await this.#client.find<CoreSecret>(kinds.coreSecret, ref);
    const found = secret && signingValue(secret);
    return found?.kind === "usable" ? found.value : undefined;
  }

  /** Undefined while there is no such Secret: whoever creates it tells nobody, so it is looked for again. */
  async #read(): Promise<CopyDigests | undefined> {
    try {
      const object = await this.#client.find<CoreSecret>(kinds.coreSecret, this.#place());
      if (object !== undefined)
        return new Map(Object.entries(object.data ?? {}).map(([file, value]) => [file, contentHash(value)]));
      this.#copies = undefined;
      return undefined;
    } catch (err) {
      this.#copies = undefined;
      throw err;
    }
  }

  /**
   * Reads the copies again, and has those reconciled that others changed. Removes those of secrets that no function
   * names, such as those that were left while no operator ran.
   */
  async #lookAgain(): Promise<undefined> {
    const before = await this.#copies?.catch(() => undefined);
    this.#copies = this.#read();
    const copies = await this.#copies;
    if (copies === undefined) return;
    if (before !== undefined)
      for (const file of this.#named.keys()) if (before.get(file) !== copies.get(file)) this.#changed(file);
    const files = [...copies.keys()].filter((file) => !this.#named.has(file));
    if (files.length === 0) return;
    await this.#write(Object.fromEntries(files.map((file) => [file, null])));
    // Named meanwhile, so that its copy may have been removed, too.
    for (const file of files) if (this.#named.has(file)) this.#changed(file);
  }

  async #write(data: Readonly<Record<string, string | null>>): Promise<void> {
    try {
      await this.#client.patch(kinds.coreSecret, "merge", { data }, this.#place());
    } catch (err) {
      this.#copies = undefined;
      throw err;
    }
    // Into what is being read now, too, which may be older than this.
    const copies = await this.#copies?.catch(() => undefined);
    for (const [file, value] of Object.entries(data))
      if (value === null) copies?.delete(file);
      else copies?.set(file, contentHash(value));
  }

  #missing(): PlatformError {
    const { namespace, name } = this.#place();
    return new PlatformError(
      "internal_error",
      `Cannot copy a secret of callbacks to Secret "${namespace}/${name}": it does not exist`,
    );
  }

  #place(): SecretRef {
    return { namespace: this.#parts.platformNamespace, name: callbackSecretCopies.object };
  }
}

function secretOf({ metadata: { namespace = "" }, spec }: FunctionObject): SecretRef | undefined {
  const ref = callbackSecretIn(namespace, spec.annotations);
  return ref !== undefined && isSecretName(ref.name) ? ref : undefined;
}
