import { PlatformError } from "../../../../api/platform-error.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import type { ImageDocument, PullLine } from "../engine/engine-types.ts";
import { checkImage, pullQuery } from "./image-reference.ts";
import { jsonLines } from "../engine/json-lines.ts";
import { PullProgress } from "./pull-progress.ts";
import { StartFailure } from "../containers/start-failure.ts";

/** Told how far the pull of an image is, in a few words; at most once a second. */
export type PullListener = (words: string) => void;

interface Pull {
  readonly ended: Promise<void>;
  readonly listeners: Set<PullListener>;
}

const tellInterval = 1_000;

/** Finds images by their references: those that are there are used, others are pulled, each once at a time. */
export class Images {
  readonly #engine: EngineClient;
  readonly #pulls = new Map<string, Pull>();
  /** Failed pulls in a row. */
  readonly #failures = new Map<string, number>();
  readonly #closed = new AbortController();

  constructor(engine: EngineClient) {
    this.#engine = engine;
  }

  /**
   * The id of the image; it stays the same whatever becomes of the reference.
   * @throws StartFailure `InvalidImageName`; `ErrImagePull`, after another failure `ImagePullBackOff`, with the engine's words
   */
  async resolve(image: string, heard: PullListener): Promise<string> {
    const found = await this.#find(checkImage(image));
    if (found !== undefined) return found;
    await this.#pull(image, heard);
    const pulled = await this.#find(image);
    if (pulled !== undefined) return pulled;
    throw new StartFailure("ErrImagePull", `Cannot use image "${image}": it is gone again`);
  }

  /** Whether the image with this id is still there. */
  async has(id: string): Promise<boolean> {
    return (await this.#find(id)) !== undefined;
  }

  /** Ends all pulls. */
  close(): void {
    this.#closed.abort();
  }

  async #find(reference: string): Promise<string | undefined> {
    const { body } = await this.#engine.call<ImageDocument>("GET", `/images/${reference}/json`, { expected: [404] });
    return body?.Id;
  }

  async #pull(image: string, heard: PullListener): Promise<void> {
    let pull = this.#pulls.get(image);
    if (pull === undefined) {
      const listeners = new Set<PullListener>();
      const tell: PullListener = (words) => {
        for (const listener of listeners) listener(words);
      };
      pull = { listeners, ended: this.#run(image, tell).finally(() => this.#pulls.delete(image)) };
      this.#pulls.set(image, pull);
    }
    pull.listeners.add(heard);
    try {
      await pull.ended;
    } finally {
      pull.listeners.delete(heard);
    }
  }

  async #run(image: string, tell: PullListener): Promise<void> {
    // What is done in the same turn would tell nobody.
    await Promise.resolve();
    try {
      tell("");
      await this.#fetch(image, tell);
      this.#failures.delete(image);
    } catch (err) {
      if (err instanceof PlatformError && err.code === "provider_unavailable") throw err;
      const failures = (this.#failures.get(image) ?? 0) + 1;
      this.#failures.set(image, failures);
      const words = err instanceof Error ? err.message : String(err);
      const reason = failures === 1 ? "ErrImagePull" : "ImagePullBackOff";
      throw new StartFailure(reason, `Cannot pull image "${image}": ${words}`, { cause: err });
    }
  }

  async #fetch(image: string, tell: PullListener): Promise<void> {
    const { signal } = this.#closed;
    const query = { ...pullQuery(image) };
    const lines = await this.#engine.stream("POST", "/images/create", { query, timeout: 0, signal });
    const progress = new PullProgress();
    let told = Date.now();
    for await (const line of jsonLines(lines)) {
      const said = line as PullLine;
      if (said.error !== undefined) throw new Error(said.error);
      progress.add(said);
      if (Date.now() - told < tellInterval) continue;
      told = Date.now();
      tell(progress.text());
    }
  }
}
